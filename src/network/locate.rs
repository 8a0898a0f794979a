//! Where on the network is this? A coordinate to the nearest conduit, or to the choice between several.

use geo::Point;
use rstar::primitives::{GeomWithData, Line};
use rstar::{AABB, PointDistance, RTree};

use crate::error::{Error, ErrorKind, Result};
use crate::inventory::{Inventory, System};

use super::cut::foot_on;
use super::grid::distance;
use super::{COINCIDENT_M, ConduitIndex, Network, NodeIndex, PieceIndex};

/// A place on the network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// At a node: all that drains into it is upstream.
    Node(NodeIndex),
    /// On a piece, this far along its part as drawn, metres.
    OnPiece {
        /// The piece.
        piece: PieceIndex,
        /// Distance along the part, metres.
        along_m: f64,
    },
}

/// What a report's coordinate came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Located {
    /// One place, and how far it is from the coordinate, metres.
    At(Place, f64),
    /// Conduits at the same distance that do not share the place: the reader is asked.
    Between(Vec<(ConduitIndex, Place)>, f64),
}

type Segment = GeomWithData<Line<[f64; 2]>, (PieceIndex, f64)>;

/// The drawn segments of all pieces, by place.
#[derive(Debug)]
pub struct SegmentIndex {
    tree: RTree<Segment>,
}

impl SegmentIndex {
    /// Indexes every drawn piece.
    pub fn new(inventory: &Inventory, network: &Network) -> Self {
        let mut segments = Vec::with_capacity(network.pieces.len());
        for at in 0..network.pieces.len() {
            let index = PieceIndex::from_at(at);
            let piece = network.piece(index);
            let Some(line) = network.line(inventory, index, piece.from_m, piece.to_m) else { continue };
            let mut along_m = piece.from_m;
            for pair in line.0.windows(2) {
                let (a, b) = ([pair[0].x, pair[0].y], [pair[1].x, pair[1].y]);
                segments.push(GeomWithData::new(Line::new(a, b), (index, along_m)));
                along_m += distance(a, b);
            }
        }
        SegmentIndex { tree: RTree::bulk_load(segments) }
    }

    /// Calls `found` with every segment whose box meets the window: the piece, how far along its part the segment begins, its two ends.
    pub fn window(&self, low: [f64; 2], high: [f64; 2], mut found: impl FnMut(PieceIndex, f64, [f64; 2], [f64; 2])) {
        for segment in self.tree.locate_in_envelope_intersecting(AABB::from_corners(low, high)) {
            let (piece, along_m) = segment.data;
            found(piece, along_m, segment.geom().from, segment.geom().to);
        }
    }

    /// The nearest piece that `admits` accepts: the piece, how far along its part, how far away; metres.
    pub fn nearest(&self, at: [f64; 2], admits: impl Fn(PieceIndex) -> bool) -> Option<(PieceIndex, f64, f64)> {
        self.all_nearest(at, admits).into_iter().next()
    }

    /// Every piece whose distance equals the nearest one's, to within a millimetre.
    fn all_nearest(&self, at: [f64; 2], admits: impl Fn(PieceIndex) -> bool) -> Vec<(PieceIndex, f64, f64)> {
        let mut found: Vec<(PieceIndex, f64, f64)> = Vec::new();
        let mut nearest_m = f64::INFINITY;
        for segment in self.tree.nearest_neighbor_iter(at) {
            if segment.geom().distance_2(&at).sqrt() > nearest_m + COINCIDENT_M {
                break;
            }
            let (piece, begins_m) = segment.data;
            if admits(piece) {
                let (along_m, away_m) = foot_on(segment.geom().from, segment.geom().to, at);
                nearest_m = nearest_m.min(away_m);
                found.push((piece, begins_m + along_m, away_m));
            }
        }
        found.retain(|f| f.2 <= nearest_m + COINCIDENT_M);
        found.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        found.dedup_by(|b, a| a.0 == b.0 && (a.1 - b.1).abs() <= COINCIDENT_M);
        found
    }
}

/// Places a coordinate on the nearest live conduit within the search radius (rule 8 of the shared cases).
///
/// `at` is in inside coordinates, the radius and the tolerance in metres; a sanitary conduit is never the place of a report.
///
/// # Errors
/// Nothing within the radius: the message names the nearest conduit and how far it is.
pub fn locate(
    inventory: &Inventory,
    network: &Network,
    index: &SegmentIndex,
    at: Point,
    search_radius_m: f64,
    snap_tolerance_m: f64,
) -> Result<Located> {
    let centre = [at.x(), at.y()];
    let admits = |piece: PieceIndex| {
        let conduit = &inventory.conduits[network.piece(piece).conduit.at()];
        conduit.is_live() && conduit.system != System::Sanitary
    };
    let near = index.all_nearest(centre, admits);
    let Some(&(nearest, _, away_m)) = near.first() else {
        return Err(Error::not_found("there is no live conduit on the map").hint("import the town's conduits first"));
    };
    if away_m > search_radius_m {
        let id = &inventory.conduits[network.piece(nearest).conduit.at()].key;
        return Err(Error::new(
            ErrorKind::NotFound,
            format!(
                "the report lies off the network: the nearest conduit, {id}, is {:.0} ft ({away_m:.1} m) away, beyond the search radius of {:.0} ft ({search_radius_m:.1} m)",
                away_m / 0.3048,
                search_radius_m / 0.3048
            ),
        )
        .hint("check the coordinate, give a wider --search-radius, or name a structure"));
    }
    let place_of = |piece: PieceIndex, along_m: f64| {
        let ends = network.piece(piece);
        if along_m - ends.from_m <= snap_tolerance_m && along_m - ends.from_m <= ends.to_m - along_m {
            Place::Node(ends.start)
        } else if ends.to_m - along_m <= snap_tolerance_m {
            Place::Node(ends.end)
        } else {
            Place::OnPiece { piece, along_m }
        }
    };
    let mut places: Vec<(ConduitIndex, Place)> = Vec::new();
    for (piece, along_m, _) in near {
        let place = place_of(piece, along_m);
        if !places.iter().any(|(_, known)| *known == place) {
            places.push((network.piece(piece).conduit, place));
        }
    }
    Ok(match places.as_slice() {
        [(_, only)] => Located::At(*only, away_m),
        _ => Located::Between(places, away_m),
    })
}
