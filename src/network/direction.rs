//! Which way does water take through a conduit, which source says so, and what contradicts it?
//!
//! The first source in the layer's list that says something decides; every other source that is known is evidence, never a vote.

use crate::data_issue::{DataIssue, IssueCode};
use crate::inventory::{Conduit, FlowCode, Inventory, Level, LevelField, LevelKind, NodeId, Structure};
use crate::settings::DirectionSource;

use super::cut::length_of;
use super::join::{IdReading, Joined};
use super::options::{BuildOptions, LayerOptions};
use super::{NodeIndex, StructureIndex, has};

/// Which way water takes, against the drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// From the first vertex to the last.
    WithDrawing,
    /// From the last vertex to the first.
    AgainstDrawing,
    /// Nobody knows: it may carry water both ways.
    Unknown,
}

impl Flow {
    fn of(with_drawing: bool) -> Self {
        if with_drawing { Flow::WithDrawing } else { Flow::AgainstDrawing }
    }
}

/// The way water takes through a conduit, and how that is known.
#[derive(Clone, Debug, PartialEq)]
pub struct ConduitFlow {
    /// The way.
    pub flow: Flow,
    /// The source that decided; `None` where none said anything.
    pub decided_by: Option<DirectionSource>,
    /// Known sources that say otherwise.
    pub contradicted_by: Vec<DirectionSource>,
    /// True where a source that the layer prefers was there and said nothing, so that a weaker one had to do.
    pub assumed: bool,
    /// Invert elevation at the upper end in the direction of flow, metres; `None` where unknown or a placeholder.
    pub invert_up_m: Option<f64>,
    /// Invert elevation at the lower end in the direction of flow, metres.
    pub invert_down_m: Option<f64>,
}

impl ConduitFlow {
    /// True where nothing speaks against the direction and nothing had to stand in for a better source.
    pub fn is_certain(&self) -> bool {
        self.flow != Flow::Unknown && self.contradicted_by.is_empty() && !self.assumed
    }
}

/// Decides for every conduit.
pub(super) fn decide(inventory: &Inventory, options: &BuildOptions, joined: &Joined, issues: &mut Vec<DataIssue>) -> Vec<ConduitFlow> {
    let end_nodes = conduit_end_nodes(joined, inventory.conduits.len());
    let levels: Vec<EndLevels> = inventory
        .conduits
        .iter()
        .enumerate()
        .map(|(at, conduit)| EndLevels::of(inventory, joined, conduit, joined.readings[at], end_nodes[at]))
        .collect();
    let middles = middle_levels(inventory, &levels);
    let mut flows = Vec::with_capacity(levels.len());
    for (at, levels) in levels.into_iter().enumerate() {
        let conduit = &inventory.conduits[at];
        let layer = options.layer(conduit.key.layer);
        let levels = levels.without_placeholders(middles[usize::from(conduit.key.layer.0)], layer.plausible_invert_within_m);
        flows.push(Reading { inventory, conduit, layer, id: joined.readings[at], levels }.decide(issues));
    }
    flows
}

/// The nodes at the first vertex of the first part and the last vertex of the last.
fn conduit_end_nodes(joined: &Joined, conduits: usize) -> Vec<(NodeIndex, NodeIndex)> {
    let mut nodes = vec![(NodeIndex(0), NodeIndex(0)); conduits];
    for (end, node) in joined.ends.iter().zip(&joined.end_nodes) {
        let own = &mut nodes[end.conduit as usize];
        if end.is_last {
            own.1 = *node;
        } else if end.part == 0 {
            own.0 = *node;
        }
    }
    nodes
}

/// Invert elevations at the two ends as drawn.
#[derive(Clone, Debug)]
struct EndLevels {
    at_first: EndLevel,
    at_last: EndLevel,
    /// True where the from-invert belongs to the last vertex.
    swapped: bool,
    one_datum: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum EndLevel {
    NotMapped,
    Missing,
    Placeholder(f64),
    At(f64),
}

impl EndLevel {
    fn m(&self) -> Option<f64> {
        match self {
            EndLevel::At(m) => Some(*m),
            _ => None,
        }
    }
}

impl EndLevels {
    fn of(inventory: &Inventory, joined: &Joined, conduit: &Conduit, id: IdReading, nodes: (NodeIndex, NodeIndex)) -> Self {
        // The from-invert goes with the from-node: where the ids say that the line is drawn against them, it lies at the last vertex.
        let swapped = id.says_direction && id.reversed;
        let (first, last) = if swapped { (&conduit.invert_to, &conduit.invert_from) } else { (&conduit.invert_from, &conduit.invert_to) };
        let elevation = |field: &LevelField, node: NodeIndex| match field {
            LevelField::NotMapped => EndLevel::NotMapped,
            LevelField::Missing => EndLevel::Missing,
            LevelField::Given(level) => {
                let structures = joined.nodes[node.at()].structures.iter().map(|s: &StructureIndex| &inventory.structures[s.at()]);
                elevation_of(level, structures).map_or(EndLevel::Missing, EndLevel::At)
            }
        };
        let datum = |field: &LevelField| field.given().map(|l| l.datum.clone());
        EndLevels {
            at_first: elevation(first, nodes.0),
            at_last: elevation(last, nodes.1),
            swapped,
            one_datum: datum(first) == datum(last),
        }
    }

    fn without_placeholders(mut self, middle_m: Option<f64>, within_m: f64) -> Self {
        for level in [&mut self.at_first, &mut self.at_last] {
            if let (EndLevel::At(m), Some(middle_m)) = (&level, middle_m)
                && (m - middle_m).abs() > within_m
            {
                *level = EndLevel::Placeholder(*m);
            }
        }
        self
    }
}

/// The elevation that a level means at an end with these structures; `None` where the structure does not say enough.
fn elevation_of<'a>(level: &Level, mut structures: impl Iterator<Item = &'a Structure>) -> Option<f64> {
    let reference = |field: &LevelField| {
        let given = field.given()?;
        (given.kind == LevelKind::Elevation && given.datum == level.datum).then_some(given.value_m)
    };
    match level.kind {
        LevelKind::Elevation => Some(level.value_m),
        LevelKind::DepthBelowRim => structures.find_map(|s| reference(&s.rim)).map(|rim_m| rim_m - level.value_m),
        LevelKind::OffsetAboveNode => structures.find_map(|s| reference(&s.invert)).map(|invert_m| invert_m + level.value_m),
    }
}

/// For each layer the middle one of its levels.
fn middle_levels(inventory: &Inventory, levels: &[EndLevels]) -> Vec<Option<f64>> {
    let mut by_layer: Vec<Vec<f64>> = vec![Vec::new(); inventory.layers.len()];
    for (conduit, levels) in inventory.conduits.iter().zip(levels) {
        by_layer[usize::from(conduit.key.layer.0)].extend([levels.at_first.m(), levels.at_last.m()].into_iter().flatten());
    }
    by_layer
        .into_iter()
        .map(|mut all| {
            let half = all.len() / 2;
            (!all.is_empty()).then(|| *all.select_nth_unstable_by(half, f64::total_cmp).1)
        })
        .collect()
}

/// What each source says about one conduit.
struct Reading<'a> {
    inventory: &'a Inventory,
    conduit: &'a Conduit,
    layer: &'a LayerOptions,
    id: IdReading,
    levels: EndLevels,
}

/// What one source says: whether water goes with the drawing.
enum Says {
    /// The layer does not have this source.
    Absent,
    /// It is there, and says nothing here.
    Nothing,
    WithDrawing(bool),
}

impl Reading<'_> {
    fn decide(&self, issues: &mut Vec<DataIssue>) -> ConduitFlow {
        self.report_levels(issues);
        let mut decided = None;
        let mut assumed = false;
        for &source in &self.layer.direction {
            match self.says(source) {
                Says::WithDrawing(with) => {
                    decided = Some((source, with));
                    break;
                }
                Says::Nothing => assumed = true,
                Says::Absent => {}
            }
        }
        let all = [DirectionSource::NodeIds, DirectionSource::Inverts, DirectionSource::FlowField, DirectionSource::Digitised];
        let contradicted_by: Vec<DirectionSource> = match decided {
            None => Vec::new(),
            Some((decider, with)) => all
                .into_iter()
                .filter(|source| *source != decider)
                .filter(|source| matches!(self.says(*source), Says::WithDrawing(other) if other != with))
                .collect(),
        };
        self.report(decided, &contradicted_by, issues);
        let flow = decided.map_or(Flow::Unknown, |(_, with)| Flow::of(with));
        let (first_m, last_m) = (self.levels.at_first.m(), self.levels.at_last.m());
        let (invert_up_m, invert_down_m) = if flow == Flow::AgainstDrawing { (last_m, first_m) } else { (first_m, last_m) };
        ConduitFlow { flow, decided_by: decided.map(|(source, _)| source), contradicted_by, assumed, invert_up_m, invert_down_m }
    }

    fn says(&self, source: DirectionSource) -> Says {
        match source {
            DirectionSource::NodeIds => match (&self.conduit.node_from, &self.conduit.node_to) {
                (NodeId::NotMapped, NodeId::NotMapped) => Says::Absent,
                _ if self.id.says_direction => Says::WithDrawing(!self.id.reversed),
                _ => Says::Nothing,
            },
            DirectionSource::Inverts => {
                let levels = &self.levels;
                if self.conduit.pressurised || (levels.at_first == EndLevel::NotMapped && levels.at_last == EndLevel::NotMapped) {
                    return Says::Absent;
                }
                match (levels.at_first.m(), levels.at_last.m()) {
                    (Some(first), Some(last)) if levels.one_datum && first != last && !self.is_implausible(first - last) => {
                        Says::WithDrawing(first > last)
                    }
                    _ => Says::Nothing,
                }
            }
            DirectionSource::FlowField => match self.conduit.flow {
                FlowCode::NotMapped => Says::Absent,
                FlowCode::SaysNothing => Says::Nothing,
                FlowCode::WithDrawing => Says::WithDrawing(true),
                FlowCode::AgainstDrawing => Says::WithDrawing(false),
            },
            DirectionSource::Digitised => {
                if self.conduit.parts.is_empty() {
                    Says::Absent
                } else {
                    Says::WithDrawing(true)
                }
            }
        }
    }

    /// A fall steeper than 100 % over more than a foot: no drain is laid so, one of the two numbers is wrong (assumed).
    fn is_implausible(&self, fall_m: f64) -> bool {
        let length_m: f64 = self.conduit.parts.iter().map(length_of).sum();
        !self.conduit.parts.is_empty() && fall_m.abs() > length_m.max(0.3048)
    }

    fn issue(&self, code: IssueCode) -> DataIssue {
        let issue = DataIssue::new(code, self.inventory.layer_name(self.conduit.key.layer)).id(&*self.conduit.key.id);
        match self.conduit.parts.first().and_then(|line| line.0.first()) {
            Some(c) => issue.at(c.x, c.y),
            None => issue,
        }
    }

    fn report_levels(&self, issues: &mut Vec<DataIssue>) {
        let id = &self.conduit.key;
        let (from, to) = (&self.layer.invert_from_field, &self.layer.invert_to_field);
        let fields = if self.levels.swapped { [to, from] } else { [from, to] };
        for (level, field) in [&self.levels.at_first, &self.levels.at_last].into_iter().zip(fields) {
            match level {
                EndLevel::Missing => {
                    issues.push(self.issue(IssueCode::InvertMissing).field(field).message(format!("{id}: {field} gives no level")));
                }
                EndLevel::Placeholder(m) => {
                    issues.push(self.issue(IssueCode::InvertMissing).field(field).value(format!("{m} m")).message(format!(
                        "{id}: {field} gives {m:.2} m, too far from the layer's other levels to be one; taken as missing"
                    )))
                }
                _ => {}
            }
        }
        if let (Some(first), Some(last)) = (self.levels.at_first.m(), self.levels.at_last.m())
            && !self.conduit.pressurised
            && self.is_implausible(first - last)
        {
            let fall_m = (first - last).abs();
            issues.push(
                self.issue(IssueCode::ImplausibleSlope).distance_m(fall_m).message(format!(
                    "{id}: its inverts differ by {fall_m:.2} m, more than its length; they say nothing about its direction"
                )),
            );
        }
    }

    fn report(&self, decided: Option<(DirectionSource, bool)>, contradicted_by: &[DirectionSource], issues: &mut Vec<DataIssue>) {
        let id = &self.conduit.key;
        if has(&self.layer.direction, DirectionSource::FlowField) && self.conduit.flow == FlowCode::SaysNothing {
            let field = &self.layer.flow_field;
            issues.push(
                self.issue(IssueCode::DirectionUnknown).field(field).message(format!("{id}: {field} does not say which way water goes")),
            );
        } else if decided.is_none() {
            issues.push(
                self.issue(IssueCode::DirectionUnknown).message(format!("{id}: nothing says which way water goes; it may carry both ways")),
            );
        }
        let Some((decider, with)) = decided else { return };
        let by = decider.word();
        for source in contradicted_by {
            issues.push(match source {
                DirectionSource::Digitised => {
                    self.issue(IssueCode::DrawnAgainstFlow).message(format!("{id}: drawn against its flow, which {by} decided"))
                }
                DirectionSource::FlowField => self
                    .issue(IssueCode::FlowFieldContradicts)
                    .field(&self.layer.flow_field)
                    .message(format!("{id}: its flow code says the other way than {by}, which decided")),
                DirectionSource::NodeIds => self
                    .issue(IssueCode::NodeIdsContradictFlow)
                    .field(&self.layer.node_from_field)
                    .message(format!("{id}: its node ids say the other way than {by}, which decided")),
                DirectionSource::Inverts => {
                    let (first, last) = (self.levels.at_first.m().unwrap_or(0.0), self.levels.at_last.m().unwrap_or(0.0));
                    let rise_m = if with { last - first } else { first - last };
                    self.issue(IssueCode::AdverseSlope)
                        .distance_m(rise_m)
                        .message(format!("{id}: rises {rise_m:.2} m in the direction of flow, which {by} decided"))
                }
            });
        }
    }
}
