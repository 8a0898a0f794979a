//! How are corrections laid over the inventory? In their order, each whole or not at all, and whatever no longer fits is said.

use std::sync::Arc;

use geo::{Coord, LineString, Point};

use crate::data_issue::{DataIssue, IssueCode};
use crate::inventory::{
    Conduit, ConduitKind, FlowCode, Inventory, Key, Lateral, LayerIndex, LayerInfo, LevelField, LevelKind, Material, NodeId, OutfallKind,
    Shape, Status, Structure, StructureKind, System,
};

use super::{Added, Change, ConduitEnd, Correction, FeatureName, digest};

/// The layer of conduits added by hand; the tilde sorts behind every name that a town gives.
pub const ADDED_CONDUITS: &str = "~added_conduits";
/// The layer of laterals added by hand.
pub const ADDED_LATERALS: &str = "~added_laterals";
/// The layer of structures added by hand.
pub const ADDED_STRUCTURES: &str = "~added_structures";

/// Lays corrections over an inventory as imported, in their order.
///
/// A correction whose feature is gone, or whose digest differs from what it relied on, is held back and reported;
/// a conduit added by hand that the source has by now is the source's.
pub fn apply(inventory: &Inventory, corrections: &[Correction]) -> (Inventory, Vec<DataIssue>) {
    let mut town = inventory.clone();
    let mut issues = Vec::new();
    add_layers(&mut town, corrections);
    for correction in corrections {
        let misfits = misfits(inventory, correction);
        if !misfits.is_empty() {
            issues.extend(misfits);
            continue;
        }
        // A correction of several changes is laid over whole or not at all; a single one that does not fit changes nothing.
        let before = (correction.changes.len() > 1).then(|| town.clone());
        let mut tried = Overlay { town, imported: inventory, correction, issues: Vec::new(), fits: true };
        for (at, change) in correction.changes.iter().enumerate() {
            tried.lay(at, change);
        }
        issues.extend(tried.issues);
        town = match before {
            Some(before) if !tried.fits => before,
            _ => tried.town,
        };
    }
    town.sort();
    (town, issues)
}

fn add_layers(town: &mut Inventory, corrections: &[Correction]) {
    let mut add = |name: &str, role: &str, wanted: bool| {
        if wanted && town.layer_index(name).is_none() {
            town.layers.push(LayerInfo { name: name.into(), file: "records.sqlite".to_owned(), role: role.to_owned(), read: 0, usable: 0 });
        }
    };
    let any = |is: fn(&Change) -> bool| corrections.iter().flat_map(|c| &c.changes).any(is);
    add(ADDED_CONDUITS, "conduits", any(|c| matches!(c, Change::AddConduit(_))));
    add(ADDED_LATERALS, "laterals", any(|c| matches!(c, Change::AddLateral(_))));
    add(ADDED_STRUCTURES, "structures", any(|c| matches!(c, Change::AddStructure(_) | Change::Split { .. })));
}

/// What a correction relied on and no longer finds.
fn misfits(imported: &Inventory, correction: &Correction) -> Vec<DataIssue> {
    let mut found = Vec::new();
    for reliance in &correction.relied_on {
        let say = |code, what: &str| {
            DataIssue::new(code, &*reliance.feature.layer)
                .id(&*reliance.feature.id)
                .value(format!("correction {}", correction.sequence))
                .message(format!(
                    "correction {} ({}) relied on {}, which {what}; it is kept, and not laid over",
                    correction.sequence, correction.who, reliance.feature
                ))
        };
        match digest(imported, &reliance.feature) {
            None => found.push(say(IssueCode::CorrectionFeatureGone, "is gone from the source")),
            Some(now) if now != reliance.digest => found.push(say(IssueCode::CorrectionFeatureChanged, "has changed in the source")),
            Some(_) => {}
        }
    }
    found
}

struct Overlay<'a> {
    town: Inventory,
    imported: &'a Inventory,
    correction: &'a Correction,
    issues: Vec<DataIssue>,
    fits: bool,
}

fn place_of_key(town: &Inventory, feature: &FeatureName) -> Option<Key> {
    Some(Key { layer: town.layer_index(&feature.layer)?, id: Arc::from(feature.id.as_str()) })
}

impl Overlay<'_> {
    fn lay(&mut self, at: usize, change: &Change) {
        match change {
            Change::Reverse { conduit, with_drawing } => {
                let imported = self.imported;
                let drawn = self.conduit(conduit).map(|c| says_drawing(imported, c));
                if let (Some(drawn), Some(conduit)) = (drawn, self.conduit(conduit)) {
                    direct(conduit, *with_drawing, drawn);
                }
            }
            Change::Join { conduit, end, structure, to } | Change::Bridge { conduit, end, structure, to, .. } => {
                let name = structure.as_ref().map(|s| s.id.clone());
                let is_only = name.as_ref().is_none_or(|id| self.town.structures.iter().filter(|s| *s.key.id == **id).count() == 1);
                let imported = self.imported;
                let reversed = self.conduit(conduit).is_some_and(|c| !says_drawing(imported, c));
                if let Some(conduit) = self.conduit(conduit) {
                    extend(conduit, *end, *to);
                    let node = if (*end == ConduitEnd::First) != reversed { &mut conduit.node_from } else { &mut conduit.node_to };
                    if *node != NodeId::NotMapped {
                        *node = match name.filter(|_| is_only) {
                            Some(id) => NodeId::Named(id.into()),
                            None => NodeId::Missing,
                        };
                    }
                }
            }
            Change::AttachOutfall { outfall, to, .. } => {
                if let Some(outfall) = self.structure(outfall) {
                    outfall.place = Some(Point::new(to[0], to[1]));
                }
            }
            Change::SetStatus { feature, status } => {
                if let Some(status) = self.word("status", status, Status::from_word) {
                    self.edit(feature, |c| c.status = status, |s| s.status = status, |l| l.status = status);
                }
            }
            Change::SetSystem { feature, system } => {
                if let Some(system) = self.word("system", system, System::from_word) {
                    self.edit(feature, |c| c.system = system, |s| s.system = system, |l| l.system = system);
                }
            }
            Change::SetOwner { feature, owner } => {
                let owner: Arc<str> = Arc::from(owner.as_str());
                let other = owner.clone();
                self.edit(feature, move |c| c.owner = Some(owner), move |s| s.owner = Some(other), |_| {});
            }
            Change::SetKind { feature, kind } => {
                if self.has_conduit(feature) {
                    if let Some(kind) = self.word("kind of conduit", kind, ConduitKind::from_word) {
                        self.edit(feature, |c| c.kind = kind, |_| {}, |_| {});
                    }
                } else if let Some(kind) = self.word("kind of structure", kind, StructureKind::from_word) {
                    let set = |s: &mut Structure| {
                        s.kind = kind;
                        s.outfall_kind = (kind == StructureKind::Outfall).then(|| s.outfall_kind.unwrap_or(OutfallKind::Unknown));
                    };
                    self.edit(feature, |_| {}, set, |_| {});
                }
            }
            Change::ShiftLevels { conduits, by_m } => {
                for feature in conduits {
                    if let Some(conduit) = self.conduit(feature) {
                        for level in [&mut conduit.invert_from, &mut conduit.invert_to] {
                            if let LevelField::Given(level) = level
                                && level.kind == LevelKind::Elevation
                            {
                                level.value_m += by_m;
                            }
                        }
                    }
                }
            }
            Change::AddConduit(added) => self.add_conduit(at, added),
            Change::AddStructure(added) => self.add_structure(at, added),
            Change::AddLateral(added) => self.add_lateral(at, added),
            Change::Disconnect { conduit, end, back_m } => {
                let imported = self.imported;
                let reversed = self.conduit(conduit).is_some_and(|c| !says_drawing(imported, c));
                if let Some(conduit) = self.conduit(conduit) {
                    draw_back(conduit, *end, *back_m);
                    let node = if (*end == ConduitEnd::First) != reversed { &mut conduit.node_from } else { &mut conduit.node_to };
                    if *node != NodeId::NotMapped {
                        *node = NodeId::Missing;
                    }
                }
            }
            Change::Plug { conduit } => {
                if let Some(conduit) = self.conduit(conduit) {
                    conduit.status = Status::Abandoned;
                }
            }
            Change::Split { conduit, at: place } => self.split(conduit, *place),
            Change::Move { structure, to } => {
                if let Some(structure) = self.structure(structure) {
                    structure.place = Some(Point::new(to[0], to[1]));
                }
            }
        }
    }

    fn refuse(&mut self, feature: &FeatureName, what: String) {
        self.fits = false;
        self.issues.push(
            DataIssue::new(IssueCode::CorrectionFeatureGone, &*feature.layer)
                .id(&*feature.id)
                .value(format!("correction {}", self.correction.sequence))
                .message(format!(
                    "correction {} ({}): {what}; it is kept, and not laid over",
                    self.correction.sequence, self.correction.who
                )),
        );
    }

    fn word<T>(&mut self, what: &str, word: &str, read: fn(&str) -> Option<T>) -> Option<T> {
        let value = read(word);
        if value.is_none() {
            self.refuse(&FeatureName::new("", ""), format!("\"{word}\" is no {what}"));
        }
        value
    }

    fn has_conduit(&self, feature: &FeatureName) -> bool {
        place_of_key(&self.town, feature).is_some_and(|key| self.town.conduits.iter().any(|c| c.key == key))
    }

    fn conduit(&mut self, feature: &FeatureName) -> Option<&mut Conduit> {
        let found = place_of_key(&self.town, feature).and_then(|key| self.town.conduits.iter().position(|c| c.key == key));
        if found.is_none() {
            self.refuse(feature, format!("there is no conduit {feature}"));
        }
        self.town.conduits.get_mut(found?)
    }

    fn structure(&mut self, feature: &FeatureName) -> Option<&mut Structure> {
        let found = place_of_key(&self.town, feature).and_then(|key| self.town.structures.iter().position(|s| s.key == key));
        if found.is_none() {
            self.refuse(feature, format!("there is no structure {feature}"));
        }
        self.town.structures.get_mut(found?)
    }

    fn edit(
        &mut self,
        feature: &FeatureName,
        conduit: impl FnOnce(&mut Conduit),
        structure: impl FnOnce(&mut Structure),
        lateral: impl FnOnce(&mut Lateral),
    ) {
        let Some(key) = place_of_key(&self.town, feature) else {
            return self.refuse(feature, format!("there is no layer {}", feature.layer));
        };
        if let Some(found) = self.town.conduits.iter_mut().find(|c| c.key == key) {
            conduit(found);
        } else if let Some(found) = self.town.structures.iter_mut().find(|s| s.key == key) {
            structure(found);
        } else if let Some(found) = self.town.laterals.iter_mut().find(|l| l.key == key) {
            lateral(found);
        } else {
            self.refuse(feature, format!("there is no {feature} in {}", feature.layer));
        }
    }

    fn new_key(&mut self, layer: &str, at: usize, id: Option<&String>) -> Option<Key> {
        let id = id.cloned().unwrap_or_else(|| match at {
            0 => format!("added-{}", self.correction.sequence),
            _ => format!("added-{}-{}", self.correction.sequence, at + 1),
        });
        let layer: LayerIndex = self.town.layer_index(layer)?;
        if let Some(info) = self.town.layers.get_mut(usize::from(layer.0)) {
            info.read += 1;
            info.usable += 1;
        }
        Some(Key { layer, id: id.into() })
    }

    fn now_in_source(&mut self, added: &str, layer: LayerIndex, id: &str) {
        let layer = self.imported.layer_name(layer).to_owned();
        self.issues.push(
            DataIssue::new(IssueCode::CorrectionNowInSource, layer)
                .id(id)
                .value(format!("correction {}", self.correction.sequence))
                .message(format!(
                    "the {added} that correction {} added is in the source by now, as {id}; the source's is used",
                    self.correction.sequence
                )),
        );
    }

    fn add_conduit(&mut self, at: usize, added: &Added) {
        let line = line_of(added);
        let same = self.imported.conduits.iter().find(|c| c.parts.iter().any(|part| is_same_line(part, &line, added.same_within_m)));
        if let Some((layer, id)) = same.map(|c| (c.key.layer, c.key.id.clone())) {
            return self.now_in_source("conduit", layer, &id);
        }
        let Some(key) = self.new_key(ADDED_CONDUITS, at, added.id.as_ref()) else { return };
        let kind = added.kind.as_deref().and_then(ConduitKind::from_word).unwrap_or(ConduitKind::Unknown);
        self.town.conduits.push(Conduit {
            key,
            kind,
            parts: vec![line],
            node_from: NodeId::NotMapped,
            node_to: NodeId::NotMapped,
            invert_from: LevelField::NotMapped,
            invert_to: LevelField::NotMapped,
            flow: FlowCode::NotMapped,
            diameter_mm: added.diameter_mm,
            height_mm: None,
            shape: Shape::Unknown,
            material: added.material.as_deref().and_then(Material::from_word).unwrap_or(Material::Unknown),
            barrels: None,
            year_installed: None,
            status: Status::Live,
            system: System::Storm,
            owner: None,
            operator: None,
            pressurised: false,
            assigned_outfall: None,
        });
    }

    fn add_structure(&mut self, at: usize, added: &Added) {
        let Some(&[x, y]) = added.points.first() else { return };
        let place = Point::new(x, y);
        let kind = added.kind.as_deref().and_then(StructureKind::from_word).unwrap_or(StructureKind::Unknown);
        let near = |s: &&Structure| s.kind == kind && s.place.is_some_and(|p| (p.x() - x).hypot(p.y() - y) <= added.same_within_m);
        if let Some((layer, id)) = self.imported.structures.iter().find(near).map(|s| (s.key.layer, s.key.id.clone())) {
            return self.now_in_source("structure", layer, &id);
        }
        if let Some(key) = self.new_key(ADDED_STRUCTURES, at, added.id.as_ref()) {
            let tolerance_m = self.town.structures.first().map_or(0.3048, |s| s.tolerance_m);
            self.town.structures.push(structure(key, kind, place, tolerance_m));
        }
    }

    fn add_lateral(&mut self, at: usize, added: &Added) {
        let line = line_of(added);
        let same = self.imported.laterals.iter().find(|l| l.parts.iter().any(|part| is_same_line(part, &line, added.same_within_m)));
        if let Some((layer, id)) = same.map(|l| (l.key.layer, l.key.id.clone())) {
            return self.now_in_source("lateral", layer, &id);
        }
        let Some(key) = self.new_key(ADDED_LATERALS, at, added.id.as_ref()) else { return };
        self.town.laterals.push(Lateral {
            key,
            parts: vec![line],
            conduit: added.conduit.as_deref().map(Arc::from),
            parcel: added.parcel.as_deref().map(Arc::from),
            status: Status::Live,
            system: System::Storm,
            documented: Some(true),
            approved: None,
        });
    }

    fn split(&mut self, feature: &FeatureName, place: [f64; 2]) {
        let sequence = self.correction.sequence;
        let Some(conduit) = self.conduit(feature) else { return };
        let Some((part_at, before, after)) = cut_at(&conduit.parts, place) else {
            return self.refuse(feature, format!("{feature} has no place to split it at"));
        };
        let Some(joint) = before.0.last().copied() else { return };
        let blank = |node: &NodeId| if *node == NodeId::NotMapped { NodeId::NotMapped } else { NodeId::Missing };
        let unlevelled = |level: &LevelField| if *level == LevelField::NotMapped { LevelField::NotMapped } else { LevelField::Missing };
        let mut lower = conduit.clone();
        lower.key.id = Arc::from(format!("{}+{sequence}", conduit.key.id).as_str());
        lower.parts = std::iter::once(after).chain(conduit.parts.iter().skip(part_at + 1).cloned()).collect();
        lower.node_from = blank(&conduit.node_from);
        lower.invert_from = unlevelled(&conduit.invert_from);
        conduit.parts.truncate(part_at);
        conduit.parts.push(before);
        conduit.node_to = blank(&conduit.node_to);
        conduit.invert_to = unlevelled(&conduit.invert_to);
        self.town.conduits.push(lower);
        if let Some(key) = self.new_key(ADDED_STRUCTURES, 0, Some(&format!("split-{sequence}"))) {
            let tolerance_m = self.town.structures.first().map_or(0.3048, |s| s.tolerance_m);
            self.town.structures.push(structure(key, StructureKind::Junction, joint.into(), tolerance_m));
        }
    }
}

fn structure(key: Key, kind: StructureKind, place: Point, tolerance_m: f64) -> Structure {
    Structure {
        key,
        kind,
        outfall_kind: (kind == StructureKind::Outfall).then_some(OutfallKind::Unknown),
        place: Some(place),
        area: None,
        rim: LevelField::NotMapped,
        invert: LevelField::NotMapped,
        sump_m: None,
        status: Status::Live,
        system: System::Storm,
        owner: None,
        operator: None,
        other_system: None,
        name: None,
        also_known_as: None,
        receiving_water: None,
        tolerance_m,
    }
}

fn line_of(added: &Added) -> LineString {
    LineString(added.points.iter().map(|p| Coord { x: p[0], y: p[1] }).collect())
}

/// Whether the from-node lies at the first vertex, as far as the named structures' places tell.
fn says_drawing(imported: &Inventory, conduit: &Conduit) -> bool {
    let ends = (conduit.parts.first().and_then(|l| l.0.first()), conduit.parts.last().and_then(|l| l.0.last()));
    let (Some(first), Some(last)) = ends else { return true };
    let away = |node: &NodeId, c: &Coord| {
        let id = node.named()?;
        let places =
            imported.structures.iter().filter(|s| *s.key.id == *id || s.also_known_as.as_deref() == Some(id)).filter_map(|s| s.place);
        places.map(|p| (p.x() - c.x).hypot(p.y() - c.y)).min_by(f64::total_cmp)
    };
    let sum = |a: Option<f64>, b: Option<f64>| (a.is_some() || b.is_some()).then(|| a.unwrap_or(0.0) + b.unwrap_or(0.0));
    let straight = sum(away(&conduit.node_from, first), away(&conduit.node_to, last));
    let reversed = sum(away(&conduit.node_from, last), away(&conduit.node_to, first));
    match (straight, reversed) {
        (Some(straight), Some(reversed)) => reversed + 0.001 >= straight,
        _ => true,
    }
}

/// Makes every source of direction say the same: the drawing, the node ids, the flow code; each level stays at its own end.
fn direct(conduit: &mut Conduit, with_drawing: bool, ids_with_drawing: bool) {
    if !ids_with_drawing {
        std::mem::swap(&mut conduit.node_from, &mut conduit.node_to);
        std::mem::swap(&mut conduit.invert_from, &mut conduit.invert_to);
    }
    if !with_drawing {
        conduit.parts.reverse();
        conduit.parts.iter_mut().for_each(|line| line.0.reverse());
        std::mem::swap(&mut conduit.node_from, &mut conduit.node_to);
        std::mem::swap(&mut conduit.invert_from, &mut conduit.invert_to);
    }
    if conduit.flow != FlowCode::NotMapped {
        conduit.flow = FlowCode::WithDrawing;
    }
}

/// Draws the line on from its end to a place.
fn extend(conduit: &mut Conduit, end: ConduitEnd, to: [f64; 2]) {
    let to = Coord { x: to[0], y: to[1] };
    let line = match end {
        ConduitEnd::First => conduit.parts.first_mut(),
        ConduitEnd::Last => conduit.parts.last_mut(),
    };
    let Some(line) = line else { return };
    let own = if end == ConduitEnd::First { line.0.first() } else { line.0.last() };
    if own.is_none_or(|own| (own.x - to.x).hypot(own.y - to.y) > 0.0005) {
        let at = if end == ConduitEnd::First { 0 } else { line.0.len() };
        line.0.insert(at, to);
    }
}

fn draw_back(conduit: &mut Conduit, end: ConduitEnd, back_m: f64) {
    let line = match end {
        ConduitEnd::First => conduit.parts.first_mut(),
        ConduitEnd::Last => conduit.parts.last_mut(),
    };
    let Some(line) = line else { return };
    if end == ConduitEnd::First {
        line.0.reverse();
    }
    let mut left_m = back_m;
    while let [.., before, last] = line.0.as_slice() {
        let length_m = (last.x - before.x).hypot(last.y - before.y);
        if length_m > left_m {
            let share = (length_m - left_m) / length_m;
            let place = Coord { x: before.x + (last.x - before.x) * share, y: before.y + (last.y - before.y) * share };
            line.0.pop();
            line.0.push(place);
            break;
        }
        if line.0.len() == 2 {
            break;
        }
        left_m -= length_m;
        line.0.pop();
    }
    if end == ConduitEnd::First {
        line.0.reverse();
    }
}

fn nearest_on(a: Coord, b: Coord, p: [f64; 2]) -> (Coord, f64) {
    let (dx, dy) = (b.x - a.x, b.y - a.y);
    let squared = dx * dx + dy * dy;
    let t = if squared > 0.0 { (((p[0] - a.x) * dx + (p[1] - a.y) * dy) / squared).clamp(0.0, 1.0) } else { 0.0 };
    let foot = Coord { x: a.x + t * dx, y: a.y + t * dy };
    (foot, (foot.x - p[0]).hypot(foot.y - p[1]))
}

/// The part that is nearest to a place, cut there: what comes before and what after.
fn cut_at(parts: &[LineString], place: [f64; 2]) -> Option<(usize, LineString, LineString)> {
    let mut best: Option<(f64, usize, usize, Coord)> = None;
    for (part_at, part) in parts.iter().enumerate() {
        for (at, pair) in part.0.windows(2).enumerate() {
            let (foot, away_m) = nearest_on(pair[0], pair[1], place);
            if best.is_none_or(|known| away_m < known.0) {
                best = Some((away_m, part_at, at, foot));
            }
        }
    }
    let (_, part_at, at, foot) = best?;
    let part = &parts[part_at];
    let before: Vec<Coord> = part.0[..=at].iter().copied().chain([foot]).collect();
    let after: Vec<Coord> = [foot].into_iter().chain(part.0[at + 1..].iter().copied()).collect();
    Some((part_at, LineString(before), LineString(after)))
}

fn line_to_point_m(line: &LineString, p: Coord) -> f64 {
    line.0.windows(2).map(|s| nearest_on(s[0], s[1], [p.x, p.y]).1).fold(f64::INFINITY, f64::min)
}

/// True where two lines have their ends, either way round, and every vertex within a distance of each other.
fn is_same_line(a: &LineString, b: &LineString, within_m: f64) -> bool {
    let (Some(a0), Some(a1), Some(b0), Some(b1)) = (a.0.first(), a.0.last(), b.0.first(), b.0.last()) else { return false };
    let near = |p: &Coord, q: &Coord| (p.x - q.x).hypot(p.y - q.y) <= within_m;
    let ends_meet = (near(a0, b0) && near(a1, b1)) || (near(a0, b1) && near(a1, b0));
    ends_meet && a.0.iter().all(|p| line_to_point_m(b, *p) <= within_m) && b.0.iter().all(|p| line_to_point_m(a, *p) <= within_m)
}
