//! What does `headwall.toml` say? Plain data: the town's name, its layers and how their fields are read, and the settings of the network.
//!
//! Nothing is read from disk here; [`crate::town`] gives the text.

use std::collections::BTreeMap;
use std::ops::Range;

use jiff::civil::Date;
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};

use crate::data_file::civil_date;
use crate::error::{Error, Result};

mod fields;
mod lengths;
pub use fields::{FieldMapping, Meaning, Pattern, Rule};
pub use lengths::{Length, LengthUnit};

/// All that `headwall.toml` says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The town's name.
    pub name: String,
    /// Whether the data are invented; printed with every answer.
    #[serde(default)]
    pub synthetic: bool,
    /// The town's own names as owner and operator; what they own counts as the town's.
    #[serde(default)]
    pub own_names: Vec<String>,
    /// The working CRS; where absent, the commonest projected one among the conduit layers, else the UTM zone.
    pub working_crs: Option<String>,
    /// Feet or metres in what people see.
    #[serde(default)]
    pub units: LengthUnit,
    /// Ends this close are one node.
    #[serde(default = "one_foot")]
    pub snap_tolerance: Length,
    /// An end this close to a structure belongs to it; the snap tolerance where absent.
    pub structure_tolerance: Option<Length>,
    /// Whether an end on the side of a line joins it there.
    #[serde(default = "yes")]
    pub join_sides: bool,
    /// Gaps up to this are reported.
    #[serde(default = "ten_feet")]
    pub near_miss: Length,
    /// Which sources decide the direction of flow, first to last.
    #[serde(default = "default_direction")]
    pub direction: Vec<DirectionSource>,
    /// A level farther than this from its layer's middle value is a placeholder.
    #[serde(default = "two_hundred_feet")]
    pub plausible_invert_within: Length,
    /// A report is placed on the nearest conduit within this.
    #[serde(default = "fifty_feet")]
    pub search_radius: Length,
    /// Parcels within this of an upstream conduit are candidates.
    #[serde(default = "fifty_feet")]
    pub parcel_distance: Length,
    /// Waters within this of where the conduits end receive them.
    #[serde(default = "fifty_feet")]
    pub receiving_distance: Length,
    /// The shape of an assessment unit this close to a water is that water.
    #[serde(default = "fifty_feet")]
    pub unit_distance: Length,
    /// Ends of watercourses this close are one place.
    #[serde(default = "ten_feet")]
    pub water_tolerance: Length,
    /// Waters are followed downstream as far as this.
    #[serde(default = "downstream_limit")]
    pub downstream_limit: Length,
    /// Waters are followed upstream from a report as far as this.
    #[serde(default = "upstream_limit")]
    pub upstream_limit: Length,
    /// The scheme of the parcels' land-use classes: a file of `data/land_use/` or `rules/land_use/`.
    pub land_use_scheme: Option<String>,
    /// The local law: a file of `data/law/` or `rules/law/`.
    pub law: Option<String>,
    /// The discharge permit: a file of `data/permit/` or `rules/permit/`.
    pub permit: Option<String>,
    /// The date of the stormwater programme: a TMDL approved later is a future TMDL.
    pub programme_date: Option<ProgrammeDate>,
    /// Attribute fields of parcels that may be printed and exported although they may be personal.
    #[serde(default)]
    pub personal_fields_allowed: Vec<String>,
    /// The layers.
    #[serde(default, rename = "layer")]
    pub layers: Vec<LayerSettings>,
}

/// A date and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgrammeDate {
    /// The date.
    #[serde(deserialize_with = "civil_date")]
    pub date: Date,
    /// Where it stands.
    pub source: String,
}

fn yes() -> bool {
    true
}
fn one_foot() -> Length {
    Length::feet(1.0)
}
fn ten_feet() -> Length {
    Length::feet(10.0)
}
fn fifty_feet() -> Length {
    Length::feet(50.0)
}
fn downstream_limit() -> Length {
    // Twenty miles (assumed): from a brook through a lake to its outlet.
    Length::feet(105_600.0)
}
fn upstream_limit() -> Length {
    // A mile (assumed): farther up, a plume is seldom told apart.
    Length::feet(5280.0)
}
fn two_hundred_feet() -> Length {
    Length::feet(200.0)
}
fn default_direction() -> Vec<DirectionSource> {
    vec![DirectionSource::NodeIds, DirectionSource::FlowField, DirectionSource::Digitised]
}

/// What can say which way a conduit flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DirectionSource {
    /// From-node to to-node.
    NodeIds,
    /// The higher end to the lower.
    Inverts,
    /// The town's flow code.
    FlowField,
    /// As drawn.
    Digitised,
}

impl DirectionSource {
    /// Its word in `headwall.toml`.
    pub fn word(self) -> &'static str {
        match self {
            DirectionSource::NodeIds => "node_ids",
            DirectionSource::Inverts => "inverts",
            DirectionSource::FlowField => "flow_field",
            DirectionSource::Digitised => "digitised",
        }
    }
}

/// What a layer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say it; docs/town-file.md explains each")]
pub enum Role {
    Conduits,
    Structures,
    Outfalls,
    Laterals,
    InletAreas,
    Catchments,
    Parcels,
    Addresses,
    Streets,
    Buildings,
    Ponds,
    Watercourses,
    Waterbodies,
    SanitaryMains,
    WaterMains,
    Businesses,
    Permits,
    SepticSystems,
    MunicipalFacilities,
    Boundary,
    AssessmentUnits,
    UnitListing,
    TmdlActions,
    PermitListing,
    WaterNotices,
    Swmm,
}

impl Role {
    /// Every role.
    pub const ALL: &'static [Role] = &[
        Role::Conduits,
        Role::Structures,
        Role::Outfalls,
        Role::Laterals,
        Role::InletAreas,
        Role::Catchments,
        Role::Parcels,
        Role::Addresses,
        Role::Streets,
        Role::Buildings,
        Role::Ponds,
        Role::Watercourses,
        Role::Waterbodies,
        Role::SanitaryMains,
        Role::WaterMains,
        Role::Businesses,
        Role::Permits,
        Role::SepticSystems,
        Role::MunicipalFacilities,
        Role::Boundary,
        Role::AssessmentUnits,
        Role::UnitListing,
        Role::TmdlActions,
        Role::PermitListing,
        Role::WaterNotices,
        Role::Swmm,
    ];

    /// Its word in `headwall.toml`.
    pub fn word(self) -> &'static str {
        match self {
            Role::Conduits => "conduits",
            Role::Structures => "structures",
            Role::Outfalls => "outfalls",
            Role::Laterals => "laterals",
            Role::InletAreas => "inlet_areas",
            Role::Catchments => "catchments",
            Role::Parcels => "parcels",
            Role::Addresses => "addresses",
            Role::Streets => "streets",
            Role::Buildings => "buildings",
            Role::Ponds => "ponds",
            Role::Watercourses => "watercourses",
            Role::Waterbodies => "waterbodies",
            Role::SanitaryMains => "sanitary_mains",
            Role::WaterMains => "water_mains",
            Role::Businesses => "businesses",
            Role::Permits => "permits",
            Role::SepticSystems => "septic_systems",
            Role::MunicipalFacilities => "municipal_facilities",
            Role::Boundary => "boundary",
            Role::AssessmentUnits => "assessment_units",
            Role::UnitListing => "unit_listing",
            Role::TmdlActions => "tmdl_actions",
            Role::PermitListing => "permit_listing",
            Role::WaterNotices => "water_notices",
            Role::Swmm => "swmm",
        }
    }
}

/// One layer of the town: where it lies, what it holds, how it is read.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayerSettings {
    /// The name by which Headwall knows it.
    pub name: String,
    /// What it holds.
    pub role: Role,
    /// The file, from the town's folder.
    pub path: String,
    /// The layer inside the file; needed where the file has more than one.
    pub layer: Option<String>,
    /// The CRS, where the file does not say it or says it wrong.
    pub crs: Option<String>,
    /// Says that `crs` replaces what the file states; without it a difference is an error.
    #[serde(default)]
    pub crs_overrides_file: bool,
    /// Text encoding, where the file does not say it.
    pub encoding: Option<String>,
    /// Column separator of a CSV file; found by itself where absent.
    pub separator: Option<char>,
    /// Decimal mark of a CSV file; a point where absent.
    pub decimal: Option<char>,
    /// A table whose rows belong to the features in the same order: for a shapefile whose `.dbf` was lost.
    pub attributes_by_row: Option<String>,
    /// Only features whose fields match are read; the others are counted and said.
    pub only: Option<BTreeMap<String, Pattern>>,
    /// Which field holds what.
    #[serde(default)]
    pub fields: BTreeMap<Meaning, FieldMapping>,
    /// What holds for every feature that says nothing else, such as `system = "storm"`.
    #[serde(default)]
    pub defaults: BTreeMap<Meaning, String>,
    /// Rules over several fields, tried in order before the fields' own codes.
    #[serde(default, rename = "rule")]
    pub rules: Vec<Rule>,
    /// Direction sources of this layer, where they differ from the town's.
    pub direction: Option<Vec<DirectionSource>>,
    /// Structure tolerance of this layer, where it differs.
    pub structure_tolerance: Option<Length>,
    /// Plausible distance of a level from the middle value, where it differs.
    pub plausible_invert_within: Option<Length>,
    /// Values of the `type` field that mean a pressurised main.
    #[serde(default)]
    pub pressurised: Option<PressurisedSettings>,
    /// Columns that each stand for one cause, as in the map service of ATTAINS.
    #[serde(default)]
    pub cause_columns: Option<CauseColumns>,
}

/// Columns that each stand for one cause of impairment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CauseColumns {
    /// The columns; the cause is called as the column is.
    pub fields: Vec<String>,
    /// Values that say that it impairs the water.
    pub values: Pattern,
}

/// Which conduits are pressurised.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PressurisedSettings {
    /// The field.
    pub field: String,
    /// Its values that mean a force main or siphon.
    pub values: Pattern,
}

impl Settings {
    /// Reads the text of a `headwall.toml`.
    ///
    /// # Errors
    /// Names the line, what stands there, and what may stand there.
    pub fn parse(text: &str) -> Result<Self> {
        let settings: Settings = toml::from_str(text).map_err(|error| {
            let line = error.span().map(|span: Range<usize>| text[..span.start.min(text.len())].matches('\n').count() + 1);
            let place = line.map(|line| format!("line {line}: ")).unwrap_or_default();
            Error::settings(format!("{place}{}", error.message())).file("headwall.toml").hint("docs/town-file.md lists every setting")
        })?;
        settings.validate()?;
        Ok(settings)
    }

    fn validate(&self) -> Result<()> {
        let mut seen = BTreeMap::new();
        for layer in &self.layers {
            let fault = |message: String| Error::settings(message).file("headwall.toml").layer(&layer.name);
            if layer.name.trim().is_empty() {
                return Err(fault("a layer needs a name".to_owned()));
            }
            if seen.insert(&layer.name, ()).is_some() {
                return Err(fault("two layers have this name".to_owned()).hint("give each layer a name of its own"));
            }
            if layer.name == "headwall" || layer.name.contains(['/', '\\', '"']) {
                return Err(fault("this cannot be a layer's name".to_owned()));
            }
        }
        if let Some(begun) = &self.programme_date
            && begun.source.trim().is_empty()
        {
            return Err(Error::settings("programme_date needs a source")
                .file("headwall.toml")
                .hint("say where the date stands, such as the permit's own paragraph or the programme's title page"));
        }
        if self.direction.is_empty() || self.layers.iter().any(|l| l.direction.as_ref().is_some_and(Vec::is_empty)) {
            return Err(Error::settings("direction needs at least one source").file("headwall.toml"));
        }
        Ok(())
    }

    /// Farthest distance at which an end belongs to a structure of the layer, metres.
    pub fn structure_tolerance_m(&self, layer: &LayerSettings) -> f64 {
        layer.structure_tolerance.or(self.structure_tolerance).unwrap_or(self.snap_tolerance).metres()
    }

    /// The layer of that name.
    pub fn layer(&self, name: &str) -> Option<&LayerSettings> {
        self.layers.iter().find(|l| l.name == name)
    }

    /// The direction sources of a layer.
    pub fn direction_of<'a>(&'a self, layer: &'a LayerSettings) -> &'a [DirectionSource] {
        layer.direction.as_deref().unwrap_or(&self.direction)
    }

    /// Whether an owner's or operator's name is the town itself; `None` where no own name is set.
    pub fn is_own(&self, owner: &str) -> Option<bool> {
        if self.own_names.is_empty() {
            return None;
        }
        Some(self.own_names.iter().any(|own| own.eq_ignore_ascii_case(owner.trim())))
    }
}

/// Lets a value be written short (`"FIELD"`) or long (a table), with errors that name the line.
pub(crate) fn short_or_table<'de, D, T, F>(deserializer: D, expecting: &'static str, short: F) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
    F: Fn(String) -> T,
{
    struct Either<T, F> {
        expecting: &'static str,
        short: F,
        table: std::marker::PhantomData<T>,
    }
    impl<'de, T: Deserialize<'de>, F: Fn(String) -> T> Visitor<'de> for Either<T, F> {
        type Value = T;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str(self.expecting)
        }
        fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
            Ok((self.short)(text.to_owned()))
        }
        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::deserialize(de::value::MapAccessDeserializer::new(map))
        }
    }
    deserializer.deserialize_any(Either { expecting, short, table: std::marker::PhantomData })
}
