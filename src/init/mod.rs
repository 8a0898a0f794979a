//! What is in these files? Looks at every layer and proposes a town file: role, CRS, fields, units, codes, each with why.
//!
//! It measures before it proposes, and **a wrong guess is worse than a question**: what is not sure stays out of the
//! proposal and is asked, with the choices and what its absence costs. It reads files and changes none.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use geo::Coord;

use crate::error::{Error, Result};
use crate::settings::{FieldMapping, LengthUnit, Meaning, Pattern, Role};

mod attributes;
mod column;
mod ends;
mod land;
mod look;
mod presets;
mod questions;
mod roles;
mod snap;
mod structures;
#[cfg(test)]
mod tests;
mod words;
mod write;

pub use look::Drawn;
pub use questions::{OpenQuestion, open_questions};
pub use snap::SnapStep;

use attributes::Draft;
use column::{quantile, share};
use ends::{LevelsFound, Nodes, NodesFound, Pair};
use look::{Found, Line, Look};
use roles::Decided;
use structures::EndLevels;

/// A field that is proposed.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldProposal {
    /// How it is read.
    pub mapping: FieldMapping,
    /// Why, with what was measured.
    pub why: String,
    /// Up to three of its values, the commonest first.
    pub samples: Vec<String>,
}

/// What nobody but the town can answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The meaning that stays without a field; `None` where codes, a role or a CRS are asked for.
    pub meaning: Option<Meaning>,
    /// The question.
    pub asks: String,
    /// What may be answered, as it would stand in the town file.
    pub choices: Vec<String>,
    /// What an answer lacks until then.
    pub costs: String,
}

/// What is proposed for one layer.
#[derive(Clone, Debug)]
pub struct LayerProposal {
    /// The file.
    pub path: PathBuf,
    /// The layer inside, where the file has several.
    pub inside: Option<String>,
    /// The name proposed for it.
    pub name: String,
    /// The role; `None` where it is asked for, or the layer is not used.
    pub role: Option<Role>,
    /// Why this role, or why none.
    pub why: String,
    /// What is drawn.
    pub drawn: Drawn,
    /// How many features.
    pub features: usize,
    /// A CRS that the file does not say itself, with why.
    pub crs: Option<(String, String)>,
    /// A table whose rows belong to the features, with why.
    pub attributes_by_row: Option<(PathBuf, String)>,
    /// The fields.
    pub fields: BTreeMap<Meaning, FieldProposal>,
    /// What holds for the whole layer, with why.
    pub defaults: BTreeMap<Meaning, (String, String)>,
    /// The field and values of pressurised mains, with why.
    pub pressurised: Option<(String, Vec<String>, String)>,
    /// What is asked.
    pub questions: Vec<Question>,
    /// What was measured, for the reader of the town file.
    pub notes: Vec<String>,
}

/// A proposed town file.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The layers, in the order of their files.
    pub layers: Vec<LayerProposal>,
    /// Feet or metres for people.
    pub units: LengthUnit,
    /// What each tolerance would join; empty where there are no lines.
    pub snap: Vec<SnapStep>,
    /// The tolerance proposed, feet.
    pub tolerance_ft: f64,
    /// The scheme of the parcels' classes, where a schema says it.
    pub land_use_scheme: Option<String>,
    /// Files that could not be read, with why.
    pub unread: Vec<(PathBuf, String)>,
}

impl LayerProposal {
    /// Whether the town file uses it: it has a role, and no CRS is asked for.
    pub fn is_used(&self) -> bool {
        let asks_crs = self.questions.iter().any(|q| q.choices.iter().any(|c| c.starts_with("crs = ")));
        self.role.is_some() && (self.crs.is_some() || !asks_crs)
    }
}

impl Proposal {
    /// How many questions are open.
    pub fn question_count(&self) -> usize {
        self.layers.iter().map(|l| l.questions.len()).sum()
    }

    /// The text of the town file; paths under `folder` are written relative to it.
    pub fn to_toml(&self, name: &str, folder: &Path) -> String {
        write::town_file(self, name, folder)
    }
}

/// Looks at files, and at those in folders, and proposes a town file.
///
/// # Errors
/// A path that is not there, or nothing that can be read.
pub fn propose(paths: &[PathBuf]) -> Result<Proposal> {
    let files = look::files(paths)?;
    let mut found = look::read(&files);
    if found.looks.is_empty() && found.models.is_empty() {
        let (file, why) = found.unread.first().cloned().unwrap_or_default();
        let error = Error::input("no layer of these files can be read")
            .hint("name files that end in .geojson, .gpkg, .shp, .gdb, .csv, .kml or .inp");
        return Err(if why.is_empty() { error } else { error.file(file).found(why) });
    }
    let joined = join_tables(&mut found.looks);
    Ok(Proposing::new(found, joined).run())
}

/// The name of a file without its ending.
fn stem(path: &Path) -> String {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    name.split('.').next().unwrap_or_default().to_owned()
}

/// A shapefile that lost its table, and a table of as many rows beside it whose measures agree: by the row.
fn join_tables(looks: &mut Vec<Look>) -> BTreeMap<PathBuf, (PathBuf, String)> {
    let mut joined = BTreeMap::new();
    let mut used: BTreeSet<PathBuf> = BTreeSet::new();
    for at in 0..looks.len() {
        if !looks[at].columns.is_empty() || looks[at].drawn == Drawn::Nothing {
            continue;
        }
        let rows = looks[at].raw.features.len();
        let fitting: Vec<usize> =
            (0..looks.len()).filter(|t| looks[*t].drawn == Drawn::Nothing && looks[*t].raw.features.len() == rows && rows > 2).collect();
        for table in fitting {
            if used.contains(&looks[table].path) {
                continue;
            }
            let Some(why) = same_order(&looks[at], &looks[table]) else { continue };
            let path = looks[table].path.clone();
            let (fields, values): (Vec<_>, Vec<_>) =
                (looks[table].raw.fields.clone(), looks[table].raw.features.iter().map(|f| f.values.clone()).collect());
            let look = &mut looks[at];
            look.raw.fields = fields;
            for (feature, row) in look.raw.features.iter_mut().zip(values) {
                feature.values = row;
            }
            look.refresh();
            used.insert(path.clone());
            joined.insert(look.path.clone(), (path, why));
            break;
        }
    }
    looks.retain(|l| !used.contains(&l.path));
    joined
}

/// Whether lengths or coordinates of a table are those of the shapes in the same order.
fn same_order(shapes: &Look, table: &Look) -> Option<String> {
    let rows = shapes.raw.features.len();
    for column in table.columns.iter().filter(|c| c.numeric() > 0.9 && c.says.has("length")) {
        let ratios: Vec<f64> = (0..rows)
            .filter_map(|r| {
                let value = column.number(&table.raw, r, &[]).filter(|v| *v > 0.0)?;
                let line = shapes.lines.get(r).copied().flatten()?;
                (line.length_m > 0.5).then(|| value / line.length_m)
            })
            .collect();
        let mut sorted = ratios.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = quantile(&sorted, 0.5);
        let same = ratios.iter().filter(|r| (*r / middle - 1.0).abs() < 0.005).count();
        if ratios.len() * 10 > rows * 8 && share(same, ratios.len()) > 0.95 {
            return Some(format!("{} of {} lengths in {} are those of the shapes in the same order", same, ratios.len(), column.name));
        }
    }
    let x = table.columns.iter().find(|c| c.says.has("x") && c.numeric() > 0.9)?;
    let y = table.columns.iter().find(|c| c.says.has("y") && c.numeric() > 0.9)?;
    let (mut told, mut same) = (0, 0);
    for row in 0..rows {
        let geo::Geometry::Point(place) = (match &shapes.raw.features[row].shape {
            crate::formats::RawShape::Shape(shape) => shape,
            _ => continue,
        }) else {
            continue;
        };
        let (Some(a), Some(b)) = (x.number(&table.raw, row, &["0".to_owned()]), y.number(&table.raw, row, &["0".to_owned()])) else {
            continue;
        };
        told += 1;
        same += usize::from((a - place.x()).abs() < 10.0 && (b - place.y()).abs() < 10.0);
    }
    (told * 2 > rows && share(same, told) > 0.9)
        .then(|| format!("{same} of {told} coordinates in {} and {} are those of the points in the same order", x.name, y.name))
}

/// The work in progress.
struct Proposing {
    found: Found,
    joined: BTreeMap<PathBuf, (PathBuf, String)>,
    fits: Vec<Option<presets::Fit>>,
    pairs: Vec<Vec<Pair>>,
    nodes: BTreeMap<usize, NodesFound>,
    levels: BTreeMap<usize, LevelsFound>,
    /// For each layer the column that others name as its id, and how often.
    referred: BTreeMap<usize, (String, usize)>,
}

impl Proposing {
    fn new(found: Found, joined: BTreeMap<PathBuf, (PathBuf, String)>) -> Self {
        let fits = found.looks.iter().map(presets::fit).collect();
        let pairs = found.looks.iter().map(|l| if l.drawn == Drawn::Lines { ends::pairs(&l.columns) } else { Vec::new() }).collect();
        Proposing { found, joined, fits, pairs, nodes: BTreeMap::new(), levels: BTreeMap::new(), referred: BTreeMap::new() }
    }

    fn run(mut self) -> Proposal {
        let decided: Vec<Decided> = self.found.looks.iter().zip(&self.fits).map(|(look, fit)| roles::decide(look, fit.as_ref())).collect();
        let role = |at: usize| match &decided[at] {
            Decided::Role(role, _) => Some(*role),
            _ => None,
        };
        for at in 0..self.found.looks.len() {
            if role(at) == Some(Role::Conduits) {
                self.measure_ends(at);
            }
        }
        self.refer_from_laterals(&role);
        let votes = self.level_votes(&role);
        let town_unit = agreed(votes.values().flatten().map(|(unit, _)| *unit));
        let mut levels_of_ends = EndLevels::default();
        for (at, levels) in &self.levels {
            if let LevelsFound::Sure(levels) = levels {
                add_levels(&self.found.looks[*at], levels, &mut levels_of_ends);
            }
        }
        let mut layers = Vec::new();
        let mut names: BTreeSet<String> = BTreeSet::new();
        let mut scheme = None;
        for (at, decided) in decided.iter().enumerate() {
            let unit = votes.get(&at).and_then(|v| agreed(v.iter().map(|(u, _)| *u))).or(town_unit);
            let layer = self.layer(at, decided, unit, votes.get(&at).map_or(&[][..], Vec::as_slice), &levels_of_ends, &mut names);
            scheme = scheme.or_else(|| self.fits[at].as_ref().and_then(|f| f.land_use_scheme.clone()));
            layers.push(layer);
        }
        leave_out_copies(&self.found.looks, &mut layers);
        for model in &self.found.models {
            layers.push(self.model(model, &mut names));
        }
        let (lines, structures) = self.network_places(&layers);
        let snap = if lines.is_empty() { Vec::new() } else { snap::steps(&lines, &structures) };
        let metric_models = self.found.models.iter().any(|m| m.model.is_metric);
        let units = match town_unit {
            Some(LengthUnit::Metre) => LengthUnit::Metre,
            None if metric_models => LengthUnit::Metre,
            _ => LengthUnit::Foot,
        };
        Proposal { tolerance_ft: tolerance(&snap, lines.len()), layers, units, snap, land_use_scheme: scheme, unread: self.found.unread }
    }

    /// Node ids and inverts of a layer of conduits, and the structure fields to which its ids refer.
    fn measure_ends(&mut self, at: usize) {
        let nodes = ends::nodes(&self.found.looks, at, &self.pairs[at]);
        if let NodesFound::Sure(nodes) = &nodes {
            for (index, column, hits) in &nodes.found_in {
                let known = self.referred.get(index);
                if known.is_none_or(|(_, most)| most < hits) {
                    self.referred.insert(*index, (column.clone(), *hits));
                }
            }
        }
        self.nodes.insert(at, nodes);
        let levels = ends::levels(&self.found.looks[at], &self.pairs[at]);
        self.levels.insert(at, levels);
    }

    /// The fields that are ids in layers to which others refer: towns name them alike everywhere.
    fn elsewhere(&self) -> Vec<String> {
        self.referred.values().map(|(name, _)| name.clone()).collect()
    }

    /// Laterals name conduits and parcels: those fields are the ids.
    fn refer_from_laterals(&mut self, role: &dyn Fn(usize) -> Option<Role>) {
        let looks = &self.found.looks;
        for at in (0..looks.len()).filter(|at| role(*at) == Some(Role::Laterals)) {
            for target in (0..looks.len()).filter(|t| matches!(role(*t), Some(Role::Parcels | Role::Conduits | Role::SanitaryMains))) {
                if let Some((_, column, hits)) = land::reference(&looks[at], &looks[target]) {
                    self.referred.entry(target).or_insert((column, hits));
                }
            }
        }
    }

    /// What speaks for feet or metres as the unit of levels, for each layer of conduits.
    fn level_votes(&self, role: &dyn Fn(usize) -> Option<Role>) -> BTreeMap<usize, Vec<(LengthUnit, String)>> {
        let mut all = BTreeMap::new();
        for (at, look) in self.found.looks.iter().enumerate() {
            if role(at) != Some(Role::Conduits) {
                continue;
            }
            let mut votes: Vec<(LengthUnit, String)> = Vec::new();
            for column in look.columns.iter().filter(|c| c.says.has("length") && c.numeric() > 0.9 && c.fill() > 0.2) {
                let mut ratios: Vec<f64> = (0..look.raw.features.len())
                    .filter_map(|r| {
                        let value = column.number(&look.raw, r, &[]).filter(|v| *v > 1.0)?;
                        let line = look.lines.get(r).copied().flatten()?;
                        (line.length_m > 3.0).then(|| value / line.length_m)
                    })
                    .collect();
                ratios.sort_by(f64::total_cmp);
                let middle = quantile(&ratios, 0.5);
                if ratios.len() < 5 {
                    continue;
                }
                if (0.9..1.1).contains(&middle) {
                    votes.push((LengthUnit::Metre, format!("lengths in {} are metres", column.name)));
                } else if (2.95..3.6).contains(&middle) {
                    votes.push((LengthUnit::Foot, format!("lengths in {} are feet", column.name)));
                }
            }
            let mut draft = Draft::new(look, Role::Conduits);
            attributes::size(&mut draft);
            if let Some(field) = draft.fields.get(&Meaning::Diameter) {
                match field.mapping.unit {
                    Some(LengthUnit::Millimetre) => {
                        votes.push((LengthUnit::Metre, format!("sizes in {} are millimetres", field.mapping.field)))
                    }
                    Some(LengthUnit::Inch) => votes.push((LengthUnit::Foot, format!("sizes in {} are inches", field.mapping.field))),
                    _ => {}
                }
            }
            all.insert(at, votes);
        }
        all
    }

    fn layer(
        &self,
        at: usize,
        decided: &Decided,
        unit: Option<LengthUnit>,
        votes: &[(LengthUnit, String)],
        ends: &EndLevels,
        names: &mut BTreeSet<String>,
    ) -> LayerProposal {
        let look = &self.found.looks[at];
        let mut layer = LayerProposal {
            path: look.path.clone(),
            inside: look.inside.clone(),
            name: name_of(look.inside.as_deref().unwrap_or(&stem(&look.path)), names),
            role: None,
            why: String::new(),
            drawn: look.drawn,
            features: look.raw.features.len(),
            crs: None,
            attributes_by_row: self.joined.get(&look.path).cloned(),
            fields: BTreeMap::new(),
            defaults: BTreeMap::new(),
            pressurised: None,
            questions: Vec::new(),
            notes: Vec::new(),
        };
        match decided {
            Decided::Role(role, why) => {
                layer.role = Some(*role);
                layer.why = why.clone();
            }
            Decided::Unused(why) => {
                layer.why = why.clone();
                return layer;
            }
            Decided::Ask(roles, why) => {
                layer.why = why.clone();
                layer.questions.push(Question {
                    meaning: None,
                    asks: format!("what does {} hold? {why}", look.called),
                    choices: roles.iter().map(|r| format!("role = \"{}\"", r.word())).collect(),
                    costs: "the layer is left out until its role is set".to_owned(),
                });
                return layer;
            }
        }
        let role = layer.role.unwrap_or(Role::Conduits);
        if !self.place(look, &mut layer) {
            layer.role = None;
        }
        let elsewhere = self.elsewhere();
        let mut draft = Draft::new(look, role);
        if let Some(fit) = &self.fits[at]
            && fit.role == role
        {
            from_preset(&mut draft, fit);
        }
        match role {
            Role::Conduits => self.conduits(at, &mut draft, &mut layer, unit, votes),
            Role::Structures | Role::Outfalls | Role::Ponds => {
                let nouns: &[&str] = &["manhole", "mh", "inlet", "outfall", "outlet", "basin", "node", "struct"];
                if !draft.fields.contains_key(&Meaning::Id) || self.referred.contains_key(&at) {
                    draft.fields.remove(&Meaning::Id);
                    attributes::id(&mut draft, self.referred.get(&at), &elsewhere, &[], nouns);
                }
                if look.drawn == Drawn::Points {
                    structures::levels(&mut draft, ends, unit);
                }
                if role == Role::Structures {
                    attributes::kind(&mut draft);
                }
                attributes::status(&mut draft);
                attributes::system(&mut draft);
                attributes::owner(&mut draft);
                if role == Role::Structures && !draft.fields.contains_key(&Meaning::Kind) {
                    default_kind(&layer.name, &mut layer.defaults);
                }
            }
            Role::Parcels => {
                if !draft.fields.contains_key(&Meaning::Id) {
                    attributes::id(&mut draft, self.referred.get(&at), &elsewhere, &[], &["parcel", "prcl", "pid", "lot"]);
                }
                attributes::address(&mut draft);
                attributes::land_use(&mut draft);
            }
            Role::Laterals => {
                attributes::id(&mut draft, None, &elsewhere, &[], &["lateral", "service"]);
                self.laterals(&mut draft);
            }
            Role::InletAreas | Role::Catchments => {
                let named = draft.fields.contains_key(&Meaning::Id);
                self.drains_to(&mut draft);
                if !named {
                    area_id(&mut draft, &elsewhere);
                }
            }
            Role::Watercourses | Role::Waterbodies | Role::AssessmentUnits | Role::UnitListing => {
                if !draft.fields.contains_key(&Meaning::Id) && role != Role::UnitListing {
                    attributes::id(&mut draft, None, &elsewhere, &[], &["comid", "reach"]);
                }
                if !draft.fields.contains_key(&Meaning::Name) {
                    land::name(&mut draft);
                }
            }
            Role::Businesses | Role::Permits | Role::SepticSystems | Role::MunicipalFacilities => {
                // The key of the parcel is not the id of what stands on it.
                self.names(&mut draft, Meaning::Parcel, Drawn::Areas);
                attributes::id(&mut draft, None, &elsewhere, &[], &[]);
            }
            _ => attributes::id(&mut draft, None, &elsewhere, &[], &[]),
        }
        layer.fields = draft.fields;
        layer.questions.append(&mut draft.questions);
        default_system(role, look, &mut layer);
        layer
    }

    fn conduits(&self, at: usize, draft: &mut Draft, layer: &mut LayerProposal, unit: Option<LengthUnit>, votes: &[(LengthUnit, String)]) {
        let look = &self.found.looks[at];
        let mut paired: BTreeSet<usize> = BTreeSet::new();
        for pair in &self.pairs[at] {
            if look.columns[pair.from].is_id_like() && look.columns[pair.to].is_id_like() {
                paired.extend([pair.from, pair.to]);
            }
        }
        let by_schema = [Meaning::InvertFrom, Meaning::InvertTo].map(|m| draft.fields.get(&m).map(|f| f.mapping.field.clone()));
        for meaning in [Meaning::NodeFrom, Meaning::NodeTo, Meaning::InvertFrom, Meaning::InvertTo] {
            draft.fields.remove(&meaning);
        }
        match self.nodes.get(&at) {
            Some(NodesFound::Sure(nodes)) => self.propose_nodes(draft, layer, nodes),
            Some(NodesFound::Doubtful(all, why)) => {
                let choices = |side: fn(&Pair) -> usize| all.iter().map(|n| look.columns[side(&n.pair)].name.clone()).collect::<Vec<_>>();
                draft.ask(Meaning::NodeFrom, format!("which field names the upper structure? {why}"), unique(choices(|p| p.from)));
                draft.ask(Meaning::NodeTo, format!("which field names the lower structure? {why}"), unique(choices(|p| p.to)));
            }
            _ => layer.notes.push("no node ids: direction rests on the drawing".to_owned()),
        }
        // What a schema says of in and out settles it, where the values do not speak against it.
        let settled = match self.levels.get(&at) {
            Some(LevelsFound::Doubtful(all, _)) => all.iter().find(|l| {
                let names = [l.pair.from, l.pair.to].map(|c| Some(look.columns[c].name.clone()));
                names == by_schema && l.uphill * 3 < l.checked
            }),
            _ => None,
        };
        let found = settled.map(|l| LevelsFound::Sure(l.clone())).or_else(|| self.levels.get(&at).cloned());
        match &found {
            Some(LevelsFound::Sure(levels)) => {
                let conflict = agreed(votes.iter().map(|(u, _)| *u)).is_none() && !votes.is_empty();
                for (meaning, column) in [(Meaning::InvertFrom, levels.pair.from), (Meaning::InvertTo, levels.pair.to)] {
                    let column = &look.columns[column];
                    let mut why = format!("falls in {} of {} conduits", levels.checked - levels.uphill, levels.checked);
                    if let Some((_, vote)) = votes.first() {
                        why.push_str(&format!("; {vote}"));
                    }
                    if let Some(note) = &levels.note {
                        why.push_str(&format!("; {note}"));
                    }
                    let by_name = suffix_unit(column);
                    draft.propose(meaning, column, why, |m| {
                        m.unit = by_name.or(unit);
                        m.missing = Pattern(levels.missing.clone());
                        m.level = Some("elevation".to_owned());
                    });
                }
                if conflict {
                    let asks =
                        format!("are the levels feet or metres? {}", votes.iter().map(|(_, w)| w.as_str()).collect::<Vec<_>>().join("; "));
                    draft.questions.push(Question {
                        meaning: None,
                        asks,
                        choices: vec!["unit = \"ft\"".to_owned(), "unit = \"m\"".to_owned()],
                        costs: "levels are read in the town's unit".to_owned(),
                    });
                }
                self.say_levels_against_drawing(at, levels, layer);
            }
            Some(LevelsFound::Doubtful(all, why)) => {
                let choices = |side: fn(&Pair) -> usize| all.iter().map(|l| look.columns[side(&l.pair)].name.clone()).collect::<Vec<_>>();
                draft.ask(Meaning::InvertFrom, format!("which field is the invert at the upper end? {why}"), unique(choices(|p| p.from)));
                draft.ask(Meaning::InvertTo, format!("which field is the invert at the lower end? {why}"), unique(choices(|p| p.to)));
            }
            _ => {}
        }
        if !draft.fields.contains_key(&Meaning::Id) {
            let paired: Vec<usize> = paired.into_iter().collect();
            attributes::id(
                draft,
                self.referred.get(&at),
                &self.elsewhere(),
                &paired,
                &["pipe", "main", "conduit", "sewer", "line", "storm"],
            );
        }
        draft.fields.remove(&Meaning::Diameter);
        attributes::size(draft);
        attributes::status(draft);
        attributes::system(draft);
        draft.fields.remove(&Meaning::Shape);
        attributes::shape(draft);
        draft.fields.remove(&Meaning::Material);
        attributes::material(draft);
        attributes::kind(draft);
        attributes::owner(draft);
        if !draft.fields.contains_key(&Meaning::YearInstalled) {
            attributes::year(draft);
        }
        attributes::assigned_outfall(draft);
        layer.pressurised = pressurised(look);
    }

    fn propose_nodes(&self, draft: &mut Draft, layer: &mut LayerProposal, nodes: &Nodes) {
        let look = draft.look;
        let targets: Vec<String> =
            nodes.found_in.iter().map(|(index, column, _)| format!("{} ({column})", self.found.looks[*index].called)).collect();
        let why = format!(
            "{:.0} % of the ids are found in {}; as drawn in {} of {}",
            share(nodes.resolved, nodes.ends) * 100.0,
            targets.join(", "),
            nodes.with_drawing,
            nodes.told
        );
        for (meaning, column, missing) in
            [(Meaning::NodeFrom, nodes.pair.from, &nodes.missing_from), (Meaning::NodeTo, nodes.pair.to, &nodes.missing_to)]
        {
            let column = &look.columns[column];
            draft.propose(meaning, column, why.clone(), |m| m.missing = Pattern(missing.clone()));
        }
        layer.notes.push(format!("direction: node ids agree with the drawing in {} of {} conduits", nodes.with_drawing, nodes.told));
    }

    fn say_levels_against_drawing(&self, at: usize, levels: &ends::Levels, layer: &mut LayerProposal) {
        layer.notes.push(format!(
            "direction: inverts fall from the upper to the lower end in {} of {} conduits",
            levels.checked - levels.uphill,
            levels.checked
        ));
        if self.found.looks[at].raw.features.is_empty() {
            layer.notes.push("the layer is empty".to_owned());
        }
    }

    /// Which column names the conduit, which the parcel.
    fn laterals(&self, draft: &mut Draft) {
        for (meaning, drawn) in [(Meaning::Conduit, Drawn::Lines), (Meaning::Parcel, Drawn::Areas)] {
            if !self.names(draft, meaning, drawn) {
                draft.ask(meaning, format!("which field names the {} of a lateral?", meaning.word()), Vec::new());
            }
        }
    }

    /// Proposes the column whose values are ids in a layer so drawn; false where there is none.
    fn names(&self, draft: &mut Draft, meaning: Meaning, drawn: Drawn) -> bool {
        let best = (self.found.looks.iter())
            .filter(|l| l.drawn == drawn && (l.path != draft.look.path || l.inside != draft.look.inside))
            .filter_map(|target| Some((land::reference(draft.look, target)?, target)))
            .max_by_key(|((_, _, hits), _)| *hits);
        let Some(((own, _, hits), target)) = best else { return false };
        let Some(column) = draft.look.column(&own) else { return false };
        let missing = column.missing_ids(|_| false);
        draft.propose(meaning, column, format!("{hits} of its values are ids in {}", target.called), |m| m.missing = Pattern(missing));
        true
    }

    /// Which column names the structure to which an area drains.
    fn drains_to(&self, draft: &mut Draft) {
        let best = (self.found.looks.iter())
            .filter(|l| l.drawn == Drawn::Points)
            .filter_map(|target| Some((land::reference(draft.look, target)?, target)))
            .max_by_key(|((_, _, hits), _)| *hits);
        if let Some(((own, _, hits), target)) = best {
            if let Some(column) = draft.look.column(&own) {
                draft.propose(Meaning::DrainsTo, column, format!("{hits} of its values are ids in {}", target.called), |_| {});
            }
            return;
        }
        // Beside a model its subcatchments name its nodes.
        for model in &self.found.models {
            let nodes = &model.model.nodes;
            let Some(name) = nodes.field("name") else { continue };
            let known: BTreeSet<String> = nodes.features.iter().filter_map(|f| column::text_of(&f.values[name])).collect();
            let hit = draft.look.columns.iter().find(|c| {
                let hits: usize = c.texts.iter().filter(|(t, _)| known.contains(*t)).map(|(_, n)| n).sum();
                c.texts.len() > 2 && c.is_id_like() && hits * 10 >= c.filled * 6
            });
            if let Some(column) = hit {
                return draft.propose(Meaning::DrainsTo, column, "its values are nodes of the SWMM model beside it", |_| {});
            }
        }
        if draft.role == Role::InletAreas && !draft.fields.contains_key(&Meaning::DrainsTo) {
            draft.ask(Meaning::DrainsTo, "which field names the structure to which an area drains?", Vec::new());
        }
    }

    /// The CRS, where the file does not say it: only what the coordinates themselves can say. False: the layer cannot be placed.
    fn place(&self, look: &Look, layer: &mut LayerProposal) -> bool {
        if look.crs.is_some() || look.drawn == Drawn::Nothing {
            return true;
        }
        let Some(bounds) = look.bounds() else { return true };
        match self.place_of(bounds, &look.path) {
            Some(crs) => {
                layer.crs = Some(crs);
                true
            }
            None => {
                layer.questions.push(crs_question(&look.called));
                false
            }
        }
    }

    fn place_of(&self, bounds: [f64; 4], path: &Path) -> Option<(String, String)> {
        if look::looks_like_degrees(bounds) {
            return Some((
                "OGC:CRS84".to_owned(),
                "the file says none; its numbers can only be degrees of longitude and latitude".to_owned(),
            ));
        }
        let overlaps = |b: [f64; 4]| bounds[0] <= b[2] && b[0] <= bounds[2] && bounds[1] <= b[3] && b[1] <= bounds[3];
        let other = self
            .found
            .looks
            .iter()
            .find(|l| l.path != path && l.crs.as_ref().is_some_and(|c| c.is_projected()) && l.bounds().is_some_and(overlaps))?;
        let crs = other.crs.as_ref()?;
        // A definition without a code is written out.
        let label = crs.authority().unwrap_or(crs.wkt());
        Some((label.to_owned(), format!("the file says none; its coordinates lie where those of {} lie", other.called)))
    }

    fn model(&self, model: &look::Model, names: &mut BTreeSet<String>) -> LayerProposal {
        let bounds = look::bounds(&model.model.nodes);
        let crs = bounds.and_then(|b| self.place_of(b, &model.path));
        let mut layer = LayerProposal {
            path: model.path.clone(),
            inside: None,
            name: name_of(&stem(&model.path), names),
            role: Some(Role::Swmm),
            why: "a SWMM model".to_owned(),
            drawn: Drawn::Lines,
            features: model.model.links.features.len(),
            crs: crs.clone(),
            attributes_by_row: None,
            fields: BTreeMap::new(),
            defaults: BTreeMap::new(),
            pressurised: None,
            questions: Vec::new(),
            notes: vec![format!(
                "{} nodes, {} links, {} areas; {}",
                model.model.nodes.features.len(),
                model.model.links.features.len(),
                model.model.areas.features.len(),
                if model.model.is_metric { "metres" } else { "feet" }
            )],
        };
        if crs.is_none() && bounds.is_some() {
            layer.questions.push(crs_question(&model.model.nodes.file_name()));
        }
        layer
    }

    /// The lines and structures of the network as proposed.
    fn network_places(&self, layers: &[LayerProposal]) -> (Vec<Line>, Vec<Coord>) {
        let (mut lines, mut structures) = (Vec::new(), Vec::new());
        for (look, layer) in self.found.looks.iter().zip(layers) {
            match layer.role {
                Some(Role::Conduits) => lines.extend(look.lines.iter().flatten()),
                Some(Role::Structures | Role::Outfalls) => structures.extend(look.places.iter().flatten()),
                _ => {}
            }
        }
        (lines, structures)
    }
}

fn crs_question(called: &str) -> Question {
    Question {
        meaning: None,
        asks: format!("in which coordinate system are the numbers of {called}? the file says none"),
        choices: vec!["crs = \"EPSG:…\"".to_owned()],
        costs: "the layer is left out until its CRS is set".to_owned(),
    }
}

/// The id of an area; the field by which it names its structure serves where no other is unique.
fn area_id(draft: &mut Draft, elsewhere: &[String]) {
    let questions = draft.questions.len();
    attributes::id(draft, None, elsewhere, &[], &["catchment", "basin", "shed"]);
    let column = draft.fields.get(&Meaning::DrainsTo).and_then(|f| draft.look.column(&f.mapping.field)).filter(|c| c.distinct() > 0.93);
    let software = draft.fields.get(&Meaning::Id).and_then(|f| draft.look.column(&f.mapping.field)).is_some_and(|c| c.is_software());
    if let Some(column) = column
        && (software || !draft.fields.contains_key(&Meaning::Id))
    {
        draft.questions.truncate(questions);
        draft.propose(Meaning::Id, column, "unique, and the structure to which it drains", |_| {});
    }
}

/// The unit that all say; `None` where nobody says any, or they differ.
fn agreed(mut votes: impl Iterator<Item = LengthUnit>) -> Option<LengthUnit> {
    let first = votes.next()?;
    votes.all(|v| v == first).then_some(first)
}

fn suffix_unit(column: &column::Column) -> Option<LengthUnit> {
    match column.says.words.last().map(String::as_str) {
        Some("m") if column.says.words.len() > 1 => Some(LengthUnit::Metre),
        Some("ft" | "feet") if column.says.words.len() > 1 => Some(LengthUnit::Foot),
        _ => None,
    }
}

fn unique(names: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    names.into_iter().filter(|n| seen.insert(n.clone())).collect()
}

/// A name for a layer that no other has.
fn name_of(wanted: &str, names: &mut BTreeSet<String>) -> String {
    let plain: String = wanted.chars().map(|c| if c.is_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' }).collect();
    let base = if plain.is_empty() || plain == "headwall" { "layer".to_owned() } else { plain };
    let mut name = base.clone();
    let mut next = 2;
    while !names.insert(name.clone()) {
        name = format!("{base}_{next}");
        next += 1;
    }
    name
}

/// What a schema says of a layer's fields, where they hold anything.
fn from_preset(draft: &mut Draft, fit: &presets::Fit) {
    for (meaning, field) in &fit.fields {
        let Some(column) = draft.look.column(field) else { continue };
        let usable = column.filled > 0
            && match meaning {
                Meaning::Id => column.distinct() > 0.93 && column.fill() > 0.7,
                // Levels, sizes and codes are looked at one by one.
                Meaning::Rim | Meaning::Invert | Meaning::Status | Meaning::System => false,
                _ => true,
            };
        let only_export = matches!(meaning, Meaning::Invert) && fit.schema.contains("SWMM") && column.filled > 0;
        if usable || only_export {
            let level = only_export.then(|| "elevation".to_owned());
            draft.propose(*meaning, column, format!("so named in {}", fit.schema), |m| m.level = level);
        }
    }
}

/// The place and level of each end of the conduits.
fn add_levels(look: &Look, levels: &ends::Levels, all: &mut EndLevels) {
    let (up, down) = (&look.columns[levels.pair.from], &look.columns[levels.pair.to]);
    for row in 0..look.raw.features.len() {
        let Some(line) = look.lines.get(row).copied().flatten() else { continue };
        if let Some(level) = up.number(&look.raw, row, &levels.missing) {
            all.add(line.first, level);
        }
        if let Some(level) = down.number(&look.raw, row, &levels.missing) {
            all.add(line.last, level);
        }
    }
}

/// A field and its values that mean a force main or siphon.
fn pressurised(look: &Look) -> Option<(String, Vec<String>, String)> {
    let means = Pattern(vec![
        "force*main*".to_owned(),
        "forcemain*".to_owned(),
        "pressur*".to_owned(),
        "siphon*".to_owned(),
        "inverted siphon*".to_owned(),
    ]);
    look.columns.iter().filter(|c| c.texts.len() <= 40 && c.numeric() < 0.5 && !c.says.has_any(&["material", "owner", "flag"])).find_map(
        |c| {
            let values: Vec<String> = c.texts.keys().filter(|t| means.matches(t)).cloned().collect();
            let rows: usize = values.iter().filter_map(|v| c.texts.get(v)).sum();
            (!values.is_empty() && rows * 2 < c.filled).then(|| (c.name.clone(), values, format!("{rows} conduits; water climbs in them")))
        },
    )
}

/// What a layer's name says of all its structures.
fn default_kind(name: &str, defaults: &mut BTreeMap<Meaning, (String, String)>) {
    let flat: String = name.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    let kinds = [
        ("manhole", "manhole"),
        ("catchbasin", "catch_basin"),
        ("inlet", "inlet"),
        ("pumpstation", "pump_station"),
        ("cleanout", "cleanout"),
    ];
    if let Some((word, kind)) = kinds.into_iter().find(|(word, _)| flat.contains(word)) {
        defaults.insert(Meaning::Kind, (kind.to_owned(), format!("the layer's name says \"{word}\"")));
    }
}

/// What a layer's name says of the system, where no field does.
fn default_system(role: Role, look: &Look, layer: &mut LayerProposal) {
    if layer.fields.contains_key(&Meaning::System) || !matches!(role, Role::Conduits | Role::Structures | Role::Outfalls) {
        return;
    }
    let name = format!("{} {}", stem(&look.path), look.inside.clone().unwrap_or_default()).to_lowercase();
    let words = [("combined", "combined"), ("sanitary", "sanitary"), ("storm", "storm")];
    if let Some((word, system)) = words.into_iter().find(|(word, _)| name.contains(word)) {
        layer.defaults.insert(Meaning::System, (system.to_owned(), format!("the name says \"{word}\"")));
    }
}

/// A layer all of whose features are in a larger one, under the same ids, is a copy: used twice it would double the network.
fn leave_out_copies(looks: &[Look], layers: &mut [LayerProposal]) {
    let ids: Vec<Option<(String, BTreeSet<String>)>> = layers
        .iter()
        .zip(looks)
        .map(|(layer, look)| {
            let column = look.column(&layer.fields.get(&Meaning::Id)?.mapping.field)?;
            Some((column.name.to_lowercase(), column.texts.keys().cloned().collect()))
        })
        .collect();
    for at in 0..layers.len() {
        let Some((name, own)) = &ids[at] else { continue };
        if own.len() < 3 || !matches!(layers[at].role, Some(Role::Conduits | Role::Structures | Role::Outfalls)) {
            continue;
        }
        let larger = (0..layers.len()).find(|other| {
            *other != at
                && layers[*other].role.is_some()
                && looks[*other].drawn == looks[at].drawn
                && ids[*other].as_ref().is_some_and(|(n, all)| {
                    let same_place = || close_together(&looks[at], &looks[*other]);
                    n == name
                        && all.len() > own.len()
                        && own.iter().filter(|id| all.contains(*id)).count() * 100 >= own.len() * 95
                        && same_place()
                })
        });
        if let Some(larger) = larger {
            let other = layers[larger].name.clone();
            let layer = &mut layers[at];
            layer.why = format!("all its ids are in {other} too");
            layer.role = None;
            layer.questions.clear();
            layer.questions.push(Question {
                meaning: None,
                asks: format!("is {} a part of {other}? all its ids are there, in the same places", layer.name),
                choices: vec!["leave it out".to_owned(), "take away the # before its lines".to_owned()],
                costs: "it is left out; used beside the other every feature would be there twice".to_owned(),
            });
        }
    }
}

/// Whether the first few features of one layer lie where the same number of the other's do.
fn close_together(small: &Look, large: &Look) -> bool {
    let (Some(a), Some(b)) = (small.bounds(), large.bounds()) else { return false };
    a[0] <= b[2] && b[0] <= a[2] && a[1] <= b[3] && b[1] <= a[3]
}

/// One foot, unless that makes loops that a tenth of a foot does not.
fn tolerance(steps: &[SnapStep], lines: usize) -> f64 {
    let at = |ft: f64| steps.iter().find(|s| (s.tolerance_ft - ft).abs() < 1e-9);
    let (Some(one), Some(tenth)) = (at(1.0), at(0.1)) else { return 1.0 };
    let more_loops = one.false_loops.saturating_sub(tenth.false_loops);
    if more_loops * 50 > lines.max(50) { 0.1 } else { 1.0 }
}
