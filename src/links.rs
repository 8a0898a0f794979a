//! Which parcel is tied to which piece or inlet, by which tier, how far? Measured once, here and nowhere else.
//!
//! A link says only that water *could* come from a parcel; [`crate::candidates`] says how likely it did.

use std::collections::BTreeMap;

use geo::{BoundingRect, Contains, Coord, CoordsIter, InteriorPoint, Intersects, LineString, MultiPolygon, Point};
use rstar::primitives::{GeomWithData, Rectangle};
use rstar::{AABB, RTree};

use crate::data_issue::{DataIssue, IssueCode};
use crate::inventory::{Inventory, Status, Structure, StructureKind};
use crate::network::locate::SegmentIndex;
use crate::network::{ConduitIndex, Network, PieceIndex, StructureIndex};

/// A parcel of the inventory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ParcelIndex(pub u32);

impl ParcelIndex {
    /// Its place in the inventory's list.
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

/// A lateral of the inventory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LateralIndex(pub u32);

impl LateralIndex {
    /// Its place in the inventory's list.
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

/// A place of business, permit, septic system or facility of the inventory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PremisesIndex(pub u32);

impl PremisesIndex {
    /// Its place in the inventory's list.
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

/// A parcel within the parcel distance of a piece.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frontage {
    /// The parcel.
    pub parcel: ParcelIndex,
    /// How far apart, metres; 0 where they touch.
    pub away_m: f64,
    /// Where along the piece's part the nearest point lies, metres.
    pub along_m: f64,
}

/// A lateral and what it joins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LateralLink {
    /// The lateral.
    pub lateral: LateralIndex,
    /// The piece that it joins.
    pub piece: PieceIndex,
    /// Where along the piece's part it joins, metres.
    pub along_m: f64,
    /// The parcel it comes from.
    pub parcel: Option<ParcelIndex>,
    /// Whether the joint was drawn, or is known only from an attribute.
    pub joint_drawn: bool,
}

/// A parcel by an inlet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InletLink {
    /// The parcel.
    pub parcel: ParcelIndex,
    /// How far from the inlet, metres.
    pub away_m: f64,
    /// True where a polygon says that the parcel, or a part of it, drains to the inlet.
    pub by_area: bool,
}

/// All ties between land and network.
#[derive(Debug, Default)]
pub struct Links {
    /// Parcels along a piece, by piece.
    frontage: ByIndex<Frontage>,
    /// Laterals that join a piece, by piece.
    laterals: ByIndex<LateralLink>,
    /// Parcels by an inlet, by structure.
    inlets: ByIndex<InletLink>,
    /// Businesses, permits, septic systems and facilities on a parcel, by parcel.
    premises: ByIndex<PremisesIndex>,
    /// For each parcel its nearest live piece within the parcel distance.
    nearest: Vec<Option<(PieceIndex, f64)>>,
    /// The distance that was used, metres.
    pub parcel_distance_m: f64,
}

/// Lists by a running number, in one array.
#[derive(Debug)]
struct ByIndex<T> {
    first: Vec<u32>,
    items: Vec<T>,
}

impl<T> Default for ByIndex<T> {
    fn default() -> Self {
        ByIndex { first: Vec::new(), items: Vec::new() }
    }
}

impl<T> ByIndex<T> {
    fn new(count: usize, mut items: Vec<(u32, T)>) -> Self {
        items.sort_by_key(|(at, _)| *at);
        let mut first = vec![0u32; count + 1];
        for (at, _) in &items {
            first[*at as usize + 1] += 1;
        }
        for at in 0..count {
            first[at + 1] += first[at];
        }
        ByIndex { first, items: items.into_iter().map(|(_, item)| item).collect() }
    }

    fn of(&self, at: usize) -> &[T] {
        match (self.first.get(at), self.first.get(at + 1)) {
            (Some(&from), Some(&to)) => &self.items[from as usize..to as usize],
            _ => &[],
        }
    }
}

impl Links {
    /// Parcels along a piece.
    pub fn frontage(&self, piece: PieceIndex) -> &[Frontage] {
        self.frontage.of(piece.at())
    }

    /// Laterals that join a piece.
    pub fn laterals(&self, piece: PieceIndex) -> &[LateralLink] {
        self.laterals.of(piece.at())
    }

    /// Parcels by an inlet.
    pub fn inlets(&self, structure: StructureIndex) -> &[InletLink] {
        self.inlets.of(structure.at())
    }

    /// Businesses, permits, septic systems and facilities on a parcel.
    pub fn premises(&self, parcel: ParcelIndex) -> &[PremisesIndex] {
        self.premises.of(parcel.at())
    }

    /// The live piece nearest to a parcel, and how far it is, metres; `None` beyond the parcel distance.
    pub fn nearest_piece(&self, parcel: ParcelIndex) -> Option<(PieceIndex, f64)> {
        self.nearest.get(parcel.at()).copied().flatten()
    }

    /// Measures every tie; distances in metres.
    pub fn measure(
        inventory: &Inventory,
        network: &Network,
        segments: &SegmentIndex,
        parcel_distance_m: f64,
        snap_tolerance_m: f64,
    ) -> (Links, Vec<DataIssue>) {
        let parcels = ParcelTree::new(inventory);
        let (frontage, nearest) = measure_frontage(inventory, network, segments, parcel_distance_m);
        let (laterals, issues) = measure_laterals(inventory, network, segments, &parcels, snap_tolerance_m);
        let inlets = measure_inlets(inventory, &parcels, parcel_distance_m);
        let links = Links {
            frontage: ByIndex::new(network.pieces.len(), frontage),
            laterals: ByIndex::new(network.pieces.len(), laterals),
            inlets: ByIndex::new(inventory.structures.len(), inlets),
            premises: ByIndex::new(inventory.parcels.len(), place_premises(inventory, &parcels)),
            nearest,
            parcel_distance_m,
        };
        (links, issues)
    }
}

/// Parcels by place.
struct ParcelTree<'a> {
    inventory: &'a Inventory,
    tree: RTree<GeomWithData<Rectangle<[f64; 2]>, ParcelIndex>>,
}

impl<'a> ParcelTree<'a> {
    fn new(inventory: &'a Inventory) -> Self {
        let boxes = inventory.parcels.iter().enumerate().filter_map(|(at, parcel)| {
            let bounds = parcel.outline.as_ref()?.bounding_rect()?;
            let corners = Rectangle::from_corners([bounds.min().x, bounds.min().y], [bounds.max().x, bounds.max().y]);
            Some(GeomWithData::new(corners, ParcelIndex(at as u32)))
        });
        ParcelTree { inventory, tree: RTree::bulk_load(boxes.collect()) }
    }

    fn within(&self, low: [f64; 2], high: [f64; 2]) -> Vec<(ParcelIndex, &'a MultiPolygon)> {
        let inventory = self.inventory;
        let near = self.tree.locate_in_envelope_intersecting(AABB::from_corners(low, high)).map(|g| g.data);
        let mut near: Vec<_> = near.filter_map(|p| Some((p, inventory.parcels[p.at()].outline.as_ref()?))).collect();
        near.sort_by_key(|(p, _)| *p);
        near
    }

    /// The parcel that holds a point, else the nearest one within the reach.
    fn at(&self, point: Point, reach_m: f64) -> Option<ParcelIndex> {
        let near = self.within([point.x() - reach_m, point.y() - reach_m], [point.x() + reach_m, point.y() + reach_m]);
        let measured = near.into_iter().map(|(parcel, outline)| (outline_to_point_m(outline, point), parcel));
        measured.filter(|(away_m, _)| *away_m <= reach_m).min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).map(|(_, parcel)| parcel)
    }
}

type FrontageRows = Vec<(u32, Frontage)>;

fn measure_frontage(
    inventory: &Inventory,
    network: &Network,
    segments: &SegmentIndex,
    parcel_distance_m: f64,
) -> (FrontageRows, Vec<Option<(PieceIndex, f64)>>) {
    let mut rows: FrontageRows = Vec::new();
    let mut nearest = vec![None; inventory.parcels.len()];
    let mut best: BTreeMap<PieceIndex, (f64, f64)> = BTreeMap::new();
    for (at, parcel) in inventory.parcels.iter().enumerate() {
        let Some(outline) = &parcel.outline else { continue };
        let Some(bounds) = outline.bounding_rect() else { continue };
        let reach = |v: Coord, sign: f64| [v.x + sign * parcel_distance_m, v.y + sign * parcel_distance_m];
        best.clear();
        segments.window(reach(bounds.min(), -1.0), reach(bounds.max(), 1.0), |piece, begins_m, a, b| {
            let (away_m, along_m) = outline_to_segment_m(outline, a, b);
            if away_m <= parcel_distance_m {
                let entry = best.entry(piece).or_insert((f64::INFINITY, 0.0));
                let offered = (away_m, begins_m + along_m);
                if offered < *entry {
                    *entry = offered;
                }
            }
        });
        let parcel = ParcelIndex(at as u32);
        for (piece, (away_m, along_m)) in &best {
            rows.push((piece.0, Frontage { parcel, away_m: *away_m, along_m: *along_m }));
            let live = inventory.conduits[network.piece(*piece).conduit.at()].is_live();
            let nearer = nearest[at].is_none_or(|(_, known_m)| *away_m < known_m);
            if live && nearer {
                nearest[at] = Some((*piece, *away_m));
            }
        }
    }
    (rows, nearest)
}

/// Distance between an outline and a point, metres; 0 inside.
pub fn outline_to_point_m(outline: &MultiPolygon, point: Point) -> f64 {
    if outline.contains(&point) {
        return 0.0;
    }
    let p = [point.x(), point.y()];
    rings(outline).flat_map(|ring| ring.0.windows(2)).map(|s| point_to_segment(p, xy(s[0]), xy(s[1])).0).fold(f64::INFINITY, f64::min)
}

/// Distance between an outline and a segment, metres, and how far along the segment its nearest point lies.
///
/// 0 where they touch or the segment lies inside; inside a hole is outside.
pub fn outline_to_segment_m(outline: &MultiPolygon, a: [f64; 2], b: [f64; 2]) -> (f64, f64) {
    if outline.contains(&Point::new(a[0], a[1])) {
        return (0.0, 0.0);
    }
    let length_m = (b[0] - a[0]).hypot(b[1] - a[1]);
    let mut best = (f64::INFINITY, 0.0);
    let mut offer = |away_m: f64, along_m: f64| {
        if (away_m, along_m) < best {
            best = (away_m, along_m);
        }
    };
    for edge in rings(outline).flat_map(|ring| ring.0.windows(2)) {
        let (c, d) = (xy(edge[0]), xy(edge[1]));
        if let Some(t) = crossing(a, b, c, d) {
            offer(0.0, t * length_m);
            continue;
        }
        offer(point_to_segment(a, c, d).0, 0.0);
        offer(point_to_segment(b, c, d).0, length_m);
        for corner in [c, d] {
            let (away_m, t) = point_to_segment(corner, a, b);
            offer(away_m, t * length_m);
        }
    }
    best
}

fn rings(outline: &MultiPolygon) -> impl Iterator<Item = &LineString> {
    outline.0.iter().flat_map(|polygon| std::iter::once(polygon.exterior()).chain(polygon.interiors()))
}

fn xy(c: Coord) -> [f64; 2] {
    [c.x, c.y]
}

/// Distance from a point to a segment, and where along it (0 to 1) the foot lies.
fn point_to_segment(p: [f64; 2], a: [f64; 2], b: [f64; 2]) -> (f64, f64) {
    let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
    let squared = dx * dx + dy * dy;
    let t = if squared > 0.0 { (((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / squared).clamp(0.0, 1.0) } else { 0.0 };
    ((a[0] + t * dx - p[0]).hypot(a[1] + t * dy - p[1]), t)
}

/// Where along a–b (0 to 1) it crosses c–d.
fn crossing(a: [f64; 2], b: [f64; 2], c: [f64; 2], d: [f64; 2]) -> Option<f64> {
    let (rx, ry, sx, sy) = (b[0] - a[0], b[1] - a[1], d[0] - c[0], d[1] - c[1]);
    let across = rx * sy - ry * sx;
    if across == 0.0 {
        return None;
    }
    let (qx, qy) = (c[0] - a[0], c[1] - a[1]);
    let (t, u) = ((qx * sy - qy * sx) / across, (qx * ry - qy * rx) / across);
    ((0.0..=1.0).contains(&t) && (0.0..=1.0).contains(&u)).then_some(t)
}

/// A lateral's own joint with the network, before its parcel is known.
#[derive(Clone, Copy)]
struct Joint {
    piece: PieceIndex,
    along_m: f64,
    /// The end of the lateral that joins: its free end is the other one.
    at: Option<[f64; 2]>,
}

fn measure_laterals(
    inventory: &Inventory,
    network: &Network,
    segments: &SegmentIndex,
    parcels: &ParcelTree,
    snap_tolerance_m: f64,
) -> (Vec<(u32, LateralLink)>, Vec<DataIssue>) {
    let conduits: BTreeMap<&str, ConduitIndex> =
        inventory.conduits.iter().enumerate().map(|(at, c)| (&*c.key.id, ConduitIndex::from_at(at))).collect();
    let parcel_ids: BTreeMap<&str, ParcelIndex> =
        inventory.parcels.iter().enumerate().map(|(at, p)| (&*p.key.id, ParcelIndex(at as u32))).collect();
    let mut joints: Vec<Option<Joint>> = inventory
        .laterals
        .iter()
        .map(|lateral| {
            let named = lateral.conduit.as_ref().and_then(|id| conduits.get(&**id)).copied();
            drawn_joint(inventory, network, segments, &lateral.parts, named, snap_tolerance_m).or_else(|| {
                let first = network.pieces_of(named?).next()?;
                let piece = PieceIndex::from_at(first);
                Some(Joint { piece, along_m: network.piece(piece).from_m, at: None })
            })
        })
        .collect();
    join_to_other_laterals(inventory, &mut joints, snap_tolerance_m);
    let mut links = Vec::new();
    let mut issues = Vec::new();
    for (at, (lateral, joint)) in inventory.laterals.iter().zip(&joints).enumerate() {
        let Some(joint) = joint else {
            if lateral.status == Status::Live {
                issues.push(
                    DataIssue::new(IssueCode::LateralNotJoined, inventory.layer_name(lateral.key.layer))
                        .id(&*lateral.key.id)
                        .message(format!("lateral {} meets no conduit", lateral.key)),
                );
            }
            continue;
        };
        let free_end = lateral_ends(&lateral.parts).into_iter().max_by(|a, b| {
            let from = |p: &[f64; 2]| joint.at.map_or(0.0, |j| (p[0] - j[0]).hypot(p[1] - j[1]));
            from(a).total_cmp(&from(b))
        });
        // Where no attribute says it, the lateral comes from the parcel in which its free end lies; 3 m allow for a line that stops at the lot line (assumed).
        let parcel = match &lateral.parcel {
            Some(id) => parcel_ids.get(&**id).copied(),
            None => free_end.and_then(|p| parcels.at(Point::new(p[0], p[1]), 3.0)),
        };
        if lateral.status == Status::Live {
            let link = LateralLink {
                lateral: LateralIndex(at as u32),
                piece: joint.piece,
                along_m: joint.along_m,
                parcel,
                joint_drawn: joint.at.is_some(),
            };
            links.push((joint.piece.0, link));
        }
    }
    (links, issues)
}

fn lateral_ends(parts: &[LineString]) -> Vec<[f64; 2]> {
    parts.iter().flat_map(|line| [line.0.first(), line.0.last()]).flatten().map(|c| xy(*c)).collect()
}

/// The lateral's end that lies on a conduit, the named one first.
fn drawn_joint(
    inventory: &Inventory,
    network: &Network,
    segments: &SegmentIndex,
    parts: &[LineString],
    named: Option<ConduitIndex>,
    snap_tolerance_m: f64,
) -> Option<Joint> {
    let mut best: Option<(bool, f64, PieceIndex, f64, [f64; 2])> = None;
    for end in lateral_ends(parts) {
        let low = [end[0] - snap_tolerance_m, end[1] - snap_tolerance_m];
        let high = [end[0] + snap_tolerance_m, end[1] + snap_tolerance_m];
        segments.window(low, high, |piece, begins_m, a, b| {
            let (away_m, t) = point_to_segment(end, a, b);
            let conduit = network.piece(piece).conduit;
            if away_m > snap_tolerance_m || !inventory.conduits[conduit.at()].is_live() {
                return;
            }
            let along_m = begins_m + t * (b[0] - a[0]).hypot(b[1] - a[1]);
            let offered = (Some(conduit) != named, away_m, piece, along_m, end);
            if best.as_ref().is_none_or(|known| (offered.0, offered.1, offered.2) < (known.0, known.1, known.2)) {
                best = Some(offered);
            }
        });
    }
    let (not_named, _, piece, along_m, at) = best?;
    // An attribute that names another conduit outweighs a line that merely passes.
    (named.is_none() || !not_named).then_some(Joint { piece, along_m, at: Some(at) })
}

/// A lateral that ends on another lateral joins what that one joins.
fn join_to_other_laterals(inventory: &Inventory, joints: &mut [Option<Joint>], snap_tolerance_m: f64) {
    let open: Vec<usize> = (0..joints.len()).filter(|at| joints[*at].is_none() && !inventory.laterals[*at].parts.is_empty()).collect();
    if open.is_empty() {
        return;
    }
    let boxes = inventory.laterals.iter().enumerate().flat_map(|(at, lateral)| {
        let segments = lateral.parts.iter().flat_map(|line| line.0.windows(2));
        segments.map(move |s| GeomWithData::new(rstar::primitives::Line::new(xy(s[0]), xy(s[1])), at))
    });
    let tree = RTree::bulk_load(boxes.collect());
    let touching = |at: usize| -> Vec<(usize, [f64; 2])> {
        let mut found = Vec::new();
        for end in lateral_ends(&inventory.laterals[at].parts) {
            let window = AABB::from_corners(
                [end[0] - snap_tolerance_m, end[1] - snap_tolerance_m],
                [end[0] + snap_tolerance_m, end[1] + snap_tolerance_m],
            );
            for other in tree.locate_in_envelope_intersecting(window) {
                let line = other.geom();
                if other.data != at && point_to_segment(end, line.from, line.to).0 <= snap_tolerance_m {
                    found.push((other.data, end));
                }
            }
        }
        found.sort_by_key(|(other, _)| *other);
        found
    };
    let neighbours: Vec<_> = open.into_iter().map(|at| (at, touching(at))).collect();
    loop {
        let before: Vec<Option<Joint>> = joints.to_vec();
        let mut changed = false;
        for (at, others) in &neighbours {
            if joints[*at].is_none()
                && let Some((joint, end)) = others.iter().find_map(|(other, end)| before[*other].map(|j| (j, *end)))
            {
                joints[*at] = Some(Joint { at: Some(end), ..joint });
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
}

/// Each premises on the parcel that it names, else on the one in which it lies; 10 m allow for a point put on the street (assumed).
fn place_premises(inventory: &Inventory, parcels: &ParcelTree) -> Vec<(u32, PremisesIndex)> {
    let ids: BTreeMap<&str, ParcelIndex> =
        inventory.parcels.iter().enumerate().map(|(at, p)| (&*p.key.id, ParcelIndex(at as u32))).collect();
    let parcel_of = |premises: &crate::inventory::Premises| match &premises.parcel {
        Some(id) => ids.get(&**id).copied(),
        None => parcels.at(premises.place?, 10.0),
    };
    let placed = inventory.premises.iter().enumerate();
    placed.filter_map(|(at, premises)| Some((parcel_of(premises)?.0, PremisesIndex(at as u32)))).collect()
}

fn is_inlet(structure: &Structure) -> bool {
    matches!(structure.kind, StructureKind::CatchBasin | StructureKind::Inlet) && structure.status == Status::Live
}

fn measure_inlets(inventory: &Inventory, parcels: &ParcelTree, parcel_distance_m: f64) -> Vec<(u32, InletLink)> {
    let mut by_pair: BTreeMap<(u32, ParcelIndex), InletLink> = BTreeMap::new();
    for (at, structure) in inventory.structures.iter().enumerate().filter(|(_, s)| is_inlet(s)) {
        let Some(place) = structure.place else { continue };
        let low = [place.x() - parcel_distance_m, place.y() - parcel_distance_m];
        for (parcel, outline) in parcels.within(low, [place.x() + parcel_distance_m, place.y() + parcel_distance_m]) {
            let away_m = outline_to_point_m(outline, place);
            if away_m <= parcel_distance_m {
                by_pair.insert((at as u32, parcel), InletLink { parcel, away_m, by_area: false });
            }
        }
    }
    let mut ids: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for (at, structure) in inventory.structures.iter().enumerate() {
        ids.entry(&structure.key.id).or_default().push(at as u32);
    }
    for area in &inventory.drainage_areas {
        let Some(outline) = &area.outline else { continue };
        let named = area.drains_to.as_ref().map(|id| ids.get(&**id).cloned().unwrap_or_default());
        // An area without a name for its structure drains to the inlets that lie in it.
        let drains_to: Vec<u32> = named.unwrap_or_else(|| {
            let inside = |s: &Structure| (is_inlet(s) || area.whole_catchment) && s.place.is_some_and(|p| outline.contains(&p));
            inventory.structures.iter().enumerate().filter(|(_, s)| inside(s)).map(|(at, _)| at as u32).collect()
        });
        let Some(bounds) = outline.bounding_rect() else { continue };
        for (parcel, ground) in parcels.within(xy(bounds.min()), xy(bounds.max())) {
            if !overlaps(outline, ground) {
                continue;
            }
            for &structure in &drains_to {
                let away_m = inventory.structures[structure as usize].place.map_or(0.0, |p| outline_to_point_m(ground, p));
                by_pair.insert((structure, parcel), InletLink { parcel, away_m, by_area: true });
            }
        }
    }
    by_pair.into_iter().map(|((structure, _), link)| (structure, link)).collect()
}

/// True where two outlines share ground, not only a border.
fn overlaps(area: &MultiPolygon, ground: &MultiPolygon) -> bool {
    if !area.intersects(ground) {
        return false;
    }
    let inside = |a: &MultiPolygon, b: &MultiPolygon| {
        b.interior_point().is_some_and(|p| a.contains(&p)) || b.coords_iter().any(|c| a.contains(&Point::from(c)))
    };
    inside(area, ground) || inside(ground, area)
}

/// The parcels that share one outline, so that they can stand together: for each parcel the first one of its stack.
pub fn stacks(inventory: &Inventory) -> Vec<ParcelIndex> {
    let mut first: BTreeMap<Vec<(i64, i64)>, u32> = BTreeMap::new();
    let key = |outline: &MultiPolygon| {
        let mut corners: Vec<(i64, i64)> =
            outline.coords_iter().map(|c| ((c.x * 1000.0).round() as i64, (c.y * 1000.0).round() as i64)).collect();
        corners.sort_unstable();
        corners.dedup();
        corners
    };
    inventory
        .parcels
        .iter()
        .enumerate()
        .map(|(at, parcel)| match &parcel.outline {
            Some(outline) => ParcelIndex(*first.entry(key(outline)).or_insert(at as u32)),
            None => ParcelIndex(at as u32),
        })
        .collect()
}
