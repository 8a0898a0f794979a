//! What makes a plain trace doubtful, and what would each doubt cut off or add?

use std::collections::{BTreeMap, BTreeSet};

use crate::inventory::{ConduitKind, Status, StructureKind, System};
use crate::links::ParcelIndex;
use crate::network::locate::Place;
use crate::network::{ConduitIndex, Flow, NodeIndex, PieceIndex};

use super::cut_off::CutOff;
use super::{Ground, Trace, TraceOptions, Way, far_ends, is_inflow, micrometres, side_of, step, stops_at};

macro_rules! kinds {
    ($($variant:ident $word:literal $meaning:literal,)*) => {
        /// What sort of doubt it is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum CautionKind { $(#[doc = $meaning] $variant,)* }

        impl CautionKind {
            /// The stable text form.
            pub fn word(self) -> &'static str {
                match self { $(CautionKind::$variant => $word,)* }
            }
        }
    };
}

kinds! {
    NotConnected "not_connected" "Nothing is joined to the place itself.",
    Pump "pump" "A pump or pressurised main on the way.",
    Diversion "diversion" "A place with two ways out on the way.",
    Gap "gap" "Ends close together that are not joined.",
    ContradictedDirection "contradicted_direction" "Another source says that water goes the other way.",
    AssumedDirection "assumed_direction" "A better source said nothing, so a weaker one decided the direction.",
    UnknownDirection "unknown_direction" "Nothing says which way water goes; both ways are in the answer.",
    NotLive "not_live" "An abandoned, proposed or removed conduit, or one of unknown status, touches the way.",
    StatusEntered "status_entered" "A conduit that should carry nothing was entered because it was asked for.",
    Weir "weir" "A weir, regulator, gate or orifice on the way.",
    Pond "pond" "A pond on the way, which holds and mixes what enters it.",
    Combined "combined" "A combined conduit on the way or touching it.",
    Sanitary "sanitary" "A sanitary main touches the way; a storm trace never enters it.",
    Interconnection "interconnection" "Another system enters or takes over here.",
    OtherOwner "other_owner" "Conduits of another owner on the way.",
    NotDrawn "not_drawn" "A conduit on the way was never drawn: its length and its parcels are unknown.",
    DeadEnd "dead_end" "The way down ends at no outfall.",
    Stopped "stopped" "The trace stopped because it was told to.",
}

/// What a doubt would cut off or add.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// Conduits.
    pub conduits: usize,
    /// Length, micrometres.
    pub length_um: u64,
    /// Parcels.
    pub parcels: usize,
}

/// One doubt about a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Caution {
    /// What sort.
    pub kind: CautionKind,
    /// The conduits or structures at which it lies, by id.
    pub at: Vec<String>,
    /// One sentence for people.
    pub message: String,
    /// What would leave the answer if the map is wrong here.
    pub cuts_off: Option<Effect>,
    /// What would enter the answer if the map is wrong here.
    pub adds: Option<Effect>,
    /// Where it lies, inside coordinates.
    pub place: Option<[f64; 2]>,
}

/// At how many places of one kind the effect is worked out; the weightiest come first, the others are counted.
const MOST_DETAILED: usize = 40;

/// Finds every doubt about a trace, by kind, the weightiest first.
pub(super) fn find(ground: Ground, options: &TraceOptions, trace: &Trace) -> Vec<Caution> {
    let finder = Finder { ground, options, trace, cut_off: CutOff::new(ground, options, trace), traced: traced_parcels(ground, trace) };
    let mut cautions = Vec::new();
    finder.place(&mut cautions);
    finder.conduits(&mut cautions);
    finder.nodes(&mut cautions);
    finder.touching(&mut cautions);
    finder.gaps(&mut cautions);
    finder.dead_end(&mut cautions);
    let weight = |c: &Caution| c.cuts_off.or(c.adds).map_or(0, |e| e.conduits);
    cautions.sort_by(|a, b| a.kind.cmp(&b.kind).then(weight(b).cmp(&weight(a))).then(a.at.cmp(&b.at)));
    cautions
}

/// For each parcel the number of traced pieces by it.
fn traced_parcels(ground: Ground, trace: &Trace) -> BTreeMap<ParcelIndex, u32> {
    let mut counts = BTreeMap::new();
    for piece in &trace.pieces {
        for front in ground.links.frontage(piece.piece) {
            *counts.entry(front.parcel).or_insert(0) += 1;
        }
    }
    counts
}

struct Finder<'a> {
    ground: Ground<'a>,
    options: &'a TraceOptions,
    trace: &'a Trace,
    cut_off: CutOff<'a>,
    traced: BTreeMap<ParcelIndex, u32>,
}

impl Finder<'_> {
    fn id(&self, conduit: ConduitIndex) -> String {
        self.ground.inventory.conduits[conduit.at()].key.to_string()
    }

    fn node_id(&self, node: NodeIndex) -> String {
        self.ground.network.node_name(self.ground.inventory, node)
    }

    fn caution(&self, kind: CautionKind, at: Vec<String>, message: String, node: Option<NodeIndex>) -> Caution {
        let place = node.and_then(|n| self.ground.network.nodes[n.at()].place).map(|p| [p.x(), p.y()]);
        Caution { kind, at, message, cuts_off: None, adds: None, place }
    }

    fn place(&self, cautions: &mut Vec<Caution>) {
        let Place::Node(node) = self.trace.place else { return };
        let network = self.ground.network;
        let mut touching = network.arriving(node).iter().chain(network.leaving(node)).map(|p| network.piece(*p).conduit);
        // A storm trace never enters a sanitary main, so one that ends here connects the place to nothing.
        if touching.all(|c| self.ground.inventory.conduits[c.at()].system == System::Sanitary) {
            let name = self.node_id(node);
            let what = if network.is_bare(node) { "any conduit" } else { "any conduit but sanitary mains" };
            let message =
                format!("{name} is not connected to {what} on the map: that nothing was found says nothing about what drains here");
            cautions.push(self.caution(CautionKind::NotConnected, vec![name], message, Some(node)));
        }
    }

    /// What is doubtful about the traced conduits themselves.
    fn conduits(&self, cautions: &mut Vec<Caution>) {
        let mut by_kind: BTreeMap<CautionKind, BTreeMap<ConduitIndex, PieceIndex>> = BTreeMap::new();
        for traced in &self.trace.pieces {
            let index = self.ground.network.piece(traced.piece).conduit;
            let conduit = &self.ground.inventory.conduits[index.at()];
            let flow = self.ground.network.flow(index);
            let mut note = |kind| {
                by_kind.entry(kind).or_default().entry(index).or_insert(traced.piece);
            };
            if conduit.pressurised || conduit.kind == ConduitKind::Pump {
                note(CautionKind::Pump);
            }
            if flow.flow == Flow::Unknown {
                note(CautionKind::UnknownDirection);
            } else if !flow.contradicted_by.is_empty() {
                note(CautionKind::ContradictedDirection);
            } else if flow.assumed {
                note(CautionKind::AssumedDirection);
            }
            if matches!(conduit.kind, ConduitKind::Weir | ConduitKind::Orifice) {
                note(CautionKind::Weir);
            }
            if conduit.system == System::Combined {
                note(CautionKind::Combined);
            }
            if conduit.status != Status::Live {
                note(CautionKind::StatusEntered);
            }
            if conduit.parts.is_empty() {
                note(CautionKind::NotDrawn);
            }
        }
        for (kind, mut places) in by_kind {
            let total = places.len();
            let mut weighty: Vec<(ConduitIndex, PieceIndex)> = std::mem::take(&mut places).into_iter().collect();
            weighty.sort_by_key(|(index, piece)| (std::cmp::Reverse(self.cut_off.weight_of_piece(*piece)), *index));
            for (index, piece) in weighty.iter().take(MOST_DETAILED) {
                let effect = self.effect(&self.cut_off.by_conduit(self.ground, *index));
                let id = self.id(*index);
                let mut caution = self.caution(kind, vec![id.clone()], self.sentence(kind, *index, &id), None);
                caution.cuts_off = Some(effect);
                caution.place = self.middle_of(*piece);
                cautions.push(caution);
            }
            if total > MOST_DETAILED {
                let rest: Vec<String> = weighty[MOST_DETAILED..].iter().map(|(index, _)| self.id(*index)).collect();
                let message = format!("{} more of this kind, with less above each", rest.len());
                cautions.push(self.caution(kind, rest, message, None));
            }
        }
    }

    fn sentence(&self, kind: CautionKind, index: ConduitIndex, id: &str) -> String {
        let flow = self.ground.network.flow(index);
        let words = |sources: &[crate::settings::DirectionSource]| sources.iter().map(|s| s.word()).collect::<Vec<_>>().join(" and ");
        let decided = flow.decided_by.map_or("nothing", |s| s.word());
        match kind {
            CautionKind::Pump => format!("passes the pressurised main or pump {id}: water comes this way only while it runs"),
            CautionKind::ContradictedDirection => {
                format!("{id}: {decided} decided its direction, {} says the other way", words(&flow.contradicted_by))
            }
            CautionKind::AssumedDirection => format!("{id}: its direction rests on {decided}, because a better source says nothing"),
            CautionKind::UnknownDirection => format!("{id}: nothing says which way water goes; both ways are in the answer"),
            CautionKind::Weir => format!("passes the weir or orifice {id}: whether water passes depends on its level"),
            CautionKind::Combined => format!("{id} is a combined sewer: sewage in it is no illicit discharge by itself"),
            CautionKind::StatusEntered => {
                format!("{id} is {} and was entered because that was asked for", self.ground.inventory.conduits[index.at()].status)
            }
            CautionKind::NotDrawn => format!("{id} is known only from its node ids: its course, length and parcels are unknown"),
            _ => id.to_owned(),
        }
    }

    /// What is doubtful about the nodes on the way.
    fn nodes(&self, cautions: &mut Vec<Caution>) {
        let mut other_owners: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for reached in &self.trace.nodes {
            let node = reached.node;
            let is_start = self.trace.place == Place::Node(node);
            let mut ways_out: Vec<PieceIndex> = self.ground.network.leaving(node).to_vec();
            ways_out.retain(|p| {
                let piece = self.ground.network.piece(*p);
                piece.start != piece.end && step(self.ground, self.options, piece.conduit).is_some()
            });
            if ways_out.len() > 1 && !(is_start && self.trace.way == Way::Up) {
                let name = self.node_id(node);
                let ways: BTreeSet<String> = ways_out.iter().map(|p| self.id(self.ground.network.piece(*p).conduit)).collect();
                let ways: Vec<String> = ways.into_iter().collect();
                let message = format!("at {name} the flow divides into {}: what passes here may take either way", ways.join(" and "));
                let mut caution = self.caution(CautionKind::Diversion, vec![name], message, Some(node));
                caution.cuts_off = Some(self.effect(&self.cut_off.by_node(node)));
                cautions.push(caution);
            }
            for (_, structure) in self.ground.network.structures_at(self.ground.inventory, node) {
                let id = structure.key.to_string();
                let told = match structure.kind {
                    StructureKind::Pond => Some((CautionKind::Pond, format!("passes the pond {id}, which holds and mixes what enters it"))),
                    StructureKind::PumpStation if !is_start => Some((CautionKind::Pump, format!("passes the pump station {id}"))),
                    StructureKind::Regulator => Some((CautionKind::Weir, format!("passes the regulator, gate or weir {id}"))),
                    _ => None,
                };
                if let Some((kind, message)) = told {
                    let mut caution = self.caution(kind, vec![id.clone()], message, Some(node));
                    caution.cuts_off = Some(self.effect(&self.cut_off.by_node(node)));
                    cautions.push(caution);
                }
                if let Some(message) = interconnection_message(structure, self.trace.way) {
                    cautions.push(self.caution(CautionKind::Interconnection, vec![id.clone()], message, Some(node)));
                }
            }
            if self.options.stop_structures.iter().any(|s| self.ground.network.node_of(*s) == node) {
                let name = self.node_id(node);
                let message = format!("the trace was told to stop at {name}");
                let mut caution = self.caution(CautionKind::Stopped, vec![name], message, Some(node));
                let mut freed = self.options.clone();
                freed.stop_structures.retain(|s| self.ground.network.node_of(*s) != node);
                caution.adds = Some(self.beyond(&[node], &freed));
                cautions.push(caution);
            }
        }
        for traced in &self.trace.conduits {
            let conduit = &self.ground.inventory.conduits[traced.conduit.at()];
            if let Some(owner) = &conduit.owner {
                other_owners.entry(owner.to_string()).or_default().push(conduit.key.to_string());
            }
        }
        // One owner for the whole way is no caution; who the town itself is, the settings know, not the trace.
        if other_owners.len() > 1 {
            let most = other_owners.values().map(Vec::len).max().unwrap_or(0);
            for (owner, ids) in other_owners.into_iter().filter(|(_, ids)| ids.len() < most) {
                let message = format!("{} conduits on the way belong to {owner}", ids.len());
                cautions.push(self.caution(CautionKind::OtherOwner, ids, message, None));
            }
        }
    }

    /// Conduits that touch the way and were not entered.
    fn touching(&self, cautions: &mut Vec<Caution>) {
        let mut found: BTreeMap<(CautionKind, ConduitIndex), (NodeIndex, NodeIndex)> = BTreeMap::new();
        for reached in self.trace.nodes.iter().filter(|r| self.trace.way == Way::Down || !is_inflow(self.ground, r.node)) {
            let pieces = match self.trace.way {
                Way::Up => self.ground.network.arriving(reached.node),
                Way::Down => self.ground.network.leaving(reached.node),
            };
            for &piece in pieces {
                let index = self.ground.network.piece(piece).conduit;
                if step(self.ground, self.options, index).is_some() || self.trace.piece(piece).is_some() {
                    continue;
                }
                let conduit = &self.ground.inventory.conduits[index.at()];
                let kind = match (conduit.status, conduit.system) {
                    (_, System::Sanitary) => CautionKind::Sanitary,
                    (Status::Live, System::Combined) if !self.options.combined => CautionKind::Combined,
                    (Status::Live, _) => CautionKind::Stopped,
                    _ => CautionKind::NotLive,
                };
                found.entry((kind, index)).or_insert((reached.node, self.ground.network.inlet_of(piece, reached.node)));
            }
        }
        let mut detailed: BTreeMap<CautionKind, usize> = BTreeMap::new();
        for ((kind, index), (node, beyond)) in found {
            let conduit = &self.ground.inventory.conduits[index.at()];
            let id = self.id(index);
            let at = self.node_id(node);
            let message = match kind {
                CautionKind::Sanitary => format!("sanitary main {id} meets the way at {at}; a storm trace never enters it"),
                CautionKind::Combined => format!("combined sewer {id} meets the way at {at} and was not entered"),
                CautionKind::NotLive => {
                    format!("{id} is {} and meets the way at {at}: if it still carries water, more is upstream", conduit.status)
                }
                _ => format!("{id} meets the way at {at} and was not entered, as asked"),
            };
            let mut caution = self.caution(kind, vec![id], message, Some(node));
            let count = detailed.entry(kind).or_insert(0);
            *count += 1;
            if kind != CautionKind::Sanitary && *count <= MOST_DETAILED {
                let mut widened = self.options.clone();
                widened.combined |= kind == CautionKind::Combined;
                let mut effect = self.beyond(&[beyond], &widened);
                effect.conduits += 1;
                effect.length_um += conduit.parts.iter().map(|line| micrometres(line_length_m(line))).sum::<u64>();
                caution.adds = Some(effect);
            }
            cautions.push(caution);
        }
    }

    fn gaps(&self, cautions: &mut Vec<Caution>) {
        if self.options.bridge_gaps {
            return;
        }
        for gap in &self.ground.network.gaps {
            let reached = |node| self.trace.node(node).is_some();
            let goes_on = |node| reached(node) && !stops_at(self.ground, self.options, self.trace.way, node);
            let side = side_of(self.ground, gap);
            let side_traced =
                side.map(|(piece, along_m)| self.trace.piece(piece).is_some_and(|t| along_m >= t.from_m && along_m <= t.to_m));
            let (from, to) = (reached(gap.from), side_traced.unwrap_or_else(|| reached(gap.to)));
            let adds = match (from, to, side) {
                (true, false, Some((piece, along_m))) if goes_on(gap.from) => self.beyond_side(piece, along_m),
                (true, false, None) if goes_on(gap.from) => self.beyond(&[gap.to], self.options),
                (false, true, Some(_)) => self.beyond(&[gap.from], self.options),
                (false, true, None) if goes_on(gap.to) => self.beyond(&[gap.from], self.options),
                _ => continue,
            };
            let (a, b) = (self.node_id(gap.from), self.node_id(gap.to));
            let message =
                format!("{a} and {b} are {:.2} m apart and not joined; if they are one place, more belongs to the answer", gap.distance_m);
            let mut caution = self.caution(CautionKind::Gap, vec![a, b], message, Some(gap.from));
            caution.adds = Some(adds);
            cautions.push(caution);
        }
    }

    fn dead_end(&self, cautions: &mut Vec<Caution>) {
        if self.trace.way != Way::Down {
            return;
        }
        for reached in &self.trace.nodes {
            let goes_on = self.ground.network.leaving(reached.node).iter().any(|p| {
                let piece = self.ground.network.piece(*p);
                piece.start != piece.end && self.trace.piece(*p).is_some()
            });
            let mut structures = self.ground.network.structures_at(self.ground.inventory, reached.node);
            if goes_on || structures.any(|(_, s)| matches!(s.kind, StructureKind::Outfall | StructureKind::Pond)) {
                continue;
            }
            let name = self.node_id(reached.node);
            let message = format!("the way down ends at {name}, which is no outfall: where the water goes from there is not on the map");
            cautions.push(self.caution(CautionKind::DeadEnd, vec![name], message, Some(reached.node)));
        }
    }

    /// What a set of traced pieces comes to; parcels only where no other traced piece is by them.
    fn effect(&self, pieces: &[PieceIndex]) -> Effect {
        let mut here: BTreeMap<ParcelIndex, u32> = BTreeMap::new();
        let mut conduits = BTreeSet::new();
        let mut length_um = 0;
        for &piece in pieces {
            let traced = self.trace.piece(piece);
            length_um += traced.map_or(0, |t| t.length_um);
            conduits.insert(self.ground.network.piece(piece).conduit);
            for front in self.ground.links.frontage(piece) {
                *here.entry(front.parcel).or_insert(0) += 1;
            }
        }
        let parcels = here.iter().filter(|(parcel, count)| self.traced.get(parcel) == Some(count)).count();
        Effect { conduits: conduits.len(), length_um, parcels }
    }

    /// What lies beyond these nodes and is not in the trace.
    fn beyond(&self, nodes: &[NodeIndex], options: &TraceOptions) -> Effect {
        self.beyond_with(nodes, options, None)
    }

    /// What lies beyond the side of a piece, with the part of the piece itself.
    fn beyond_side(&self, piece: PieceIndex, along_m: f64) -> Effect {
        let ends = self.ground.network.piece(piece);
        if step(self.ground, self.options, ends.conduit).is_none() {
            return Effect::default();
        }
        let (starts, stops) = far_ends(self.ground, self.trace.way, piece);
        // What of the piece is in the trace already, as where the place itself lies on it, is not gained.
        let fresh_m = |from_m: f64, to_m: f64| {
            let known = self.trace.piece(piece).map_or(0.0, |t| (to_m.min(t.to_m) - from_m.max(t.from_m)).max(0.0));
            (to_m - from_m - known).max(0.0)
        };
        let parts = [(starts, ends.start, fresh_m(ends.from_m, along_m)), (stops, ends.end, fresh_m(along_m, ends.to_m))];
        let parts = || parts.iter().filter(|p| p.0);
        // A node that is in the trace has nothing beyond it that is not.
        let nodes: Vec<NodeIndex> = parts().map(|p| p.1).filter(|n| self.trace.node(*n).is_none()).collect();
        self.beyond_with(&nodes, self.options, Some((piece, parts().map(|p| p.2).sum())))
    }

    fn beyond_with(&self, nodes: &[NodeIndex], options: &TraceOptions, part: Option<(PieceIndex, f64)>) -> Effect {
        let mut seen: BTreeSet<NodeIndex> = nodes.iter().copied().collect();
        let mut to_do: Vec<NodeIndex> = nodes.to_vec();
        let (mut pieces, mut conduits, mut parcels, mut length_um) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new(), 0);
        while let Some(node) = to_do.pop() {
            if stops_at(self.ground, options, self.trace.way, node) {
                continue;
            }
            let around = match self.trace.way {
                Way::Up => self.ground.network.arriving(node),
                Way::Down => self.ground.network.leaving(node),
            };
            for &piece in around {
                let ends = self.ground.network.piece(piece);
                // Of the piece on which the place lies the other stretch may be new.
                let whole_um = micrometres(ends.length_m());
                let fresh_um = self.trace.piece(piece).map_or(whole_um, |t| whole_um.saturating_sub(t.length_um));
                let is_new = (fresh_um > 0 || self.trace.piece(piece).is_none()) && step(self.ground, options, ends.conduit).is_some();
                if !is_new || !pieces.insert(piece) {
                    continue;
                }
                conduits.insert(ends.conduit);
                length_um += fresh_um;
                parcels.extend(self.ground.links.frontage(piece).iter().map(|f| f.parcel).filter(|p| !self.traced.contains_key(p)));
                let far = self.ground.network.inlet_of(piece, node);
                if seen.insert(far) && self.trace.node(far).is_none() {
                    to_do.push(far);
                }
            }
        }
        if let Some((piece, length_m)) = part.filter(|(piece, _)| !pieces.contains(piece)) {
            conduits.insert(self.ground.network.piece(piece).conduit);
            length_um += micrometres(length_m);
            parcels.extend(self.ground.links.frontage(piece).iter().map(|f| f.parcel).filter(|p| !self.traced.contains_key(p)));
        }
        conduits.retain(|c| self.trace.conduit(*c).is_none());
        Effect { conduits: conduits.len(), length_um, parcels: parcels.len() }
    }

    fn middle_of(&self, piece: PieceIndex) -> Option<[f64; 2]> {
        let ends = self.ground.network.piece(piece);
        let line = self.ground.network.line(self.ground.inventory, piece, ends.from_m, (ends.from_m + ends.to_m) / 2.0)?;
        line.0.last().map(|c| [c.x, c.y])
    }
}

fn line_length_m(line: &geo::LineString) -> f64 {
    line.0.windows(2).map(|s| (s[1].x - s[0].x).hypot(s[1].y - s[0].y)).sum()
}

fn interconnection_message(structure: &crate::inventory::Structure, way: Way) -> Option<String> {
    use crate::inventory::OutfallKind;
    let id = &structure.key;
    let whose = structure.other_system.as_deref().unwrap_or("another system");
    match (structure.outfall_kind?, way) {
        (OutfallKind::InterconnectionIn, Way::Up) => {
            Some(format!("{whose} enters at {id}: what lies above it is not this town's, and the trace stops there"))
        }
        (OutfallKind::InterconnectionIn, Way::Down) => Some(format!("{whose} enters at {id}")),
        (OutfallKind::InterconnectionOut, Way::Down) => Some(format!("at {id} the water passes to {whose}")),
        (OutfallKind::FacilityIntraconnection, _) => Some(format!("a municipal facility enters at {id}")),
        _ => None,
    }
}
