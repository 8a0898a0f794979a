//! How is a field of the town's read? Which one it is, its unit, its codes, its missing-value markers.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};

use super::lengths::LengthUnit;
use super::short_or_table;

macro_rules! meanings {
    ($($variant:ident $word:literal $doc:literal,)*) => {
        /// What a field can mean.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
        pub enum Meaning { $(#[doc = $doc] #[serde(rename = $word)] $variant,)* }

        impl Meaning {
            /// Every meaning.
            pub const ALL: &'static [Meaning] = &[$(Meaning::$variant,)*];

            /// Its word in `headwall.toml`.
            pub fn word(self) -> &'static str {
                match self { $(Meaning::$variant => $word,)* }
            }
        }
    };
}

meanings! {
    Id "id" "The id.",
    Name "name" "A name for people.",
    Kind "kind" "What it is: a word of the role's vocabulary, by codes.",
    NodeFrom "node_from" "Id of the structure from which water comes.",
    NodeTo "node_to" "Id of the structure to which water goes.",
    InvertFrom "invert_from" "Invert at the first vertex or the from-node.",
    InvertTo "invert_to" "Invert at the last vertex or the to-node.",
    Flow "flow" "Flow code: `with` or `against` the drawing, by codes.",
    Diameter "diameter" "Inside diameter or width.",
    Height "height" "Inside height where it differs.",
    Shape "shape" "Cross-section, by codes.",
    Material "material" "Material, by codes.",
    Barrels "barrels" "Number of parallel barrels.",
    YearInstalled "year_installed" "Year or date of installation.",
    Status "status" "Life-cycle status, by codes.",
    System "system" "storm, combined or sanitary, by codes.",
    Owner "owner" "Who owns it.",
    Operator "operator" "Who runs it.",
    AssignedOutfall "assigned_outfall" "The outfall to which the town itself assigns a conduit.",
    OutfallKind "outfall_kind" "What kind of outfall, by codes.",
    OtherSystem "other_system" "The other system at an interconnection.",
    Rim "rim" "Rim or ground level of a structure.",
    Invert "invert" "Lowest invert of a structure.",
    Sump "sump" "Sump depth below the lowest invert.",
    AlsoKnownAs "also_known_as" "A second id of a structure.",
    DrainsTo "drains_to" "Id of the structure to which an area drains.",
    Conduit "conduit" "Id of the conduit that a lateral joins.",
    Parcel "parcel" "Id of the parcel that a lateral or premises belongs to.",
    Documented "documented" "Whether a lateral is documented: `yes` or `no`, by codes.",
    Approved "approved" "Whether a lateral is approved: `yes` or `no`, by codes.",
    LandUse "land_use" "Land-use class of a parcel.",
    UsedAs "used_as" "What a parcel is used as, in words.",
    Address "address" "Address of a parcel or point.",
    YearBuilt "year_built" "Year the main building was built.",
    Sewer "sewer" "How sewage leaves a parcel: public, private, none, by codes.",
    Sic "sic" "SIC code.",
    Naics "naics" "NAICS code.",
    Year "year" "Year of a permit or septic system.",
    X "x" "Easting or longitude column of a table.",
    Y "y" "Northing or latitude column of a table.",
    Unit "unit" "Assessment unit of a listing row.",
    Category "category" "IR category of a listing row.",
    Cause "cause" "Cause or pollutant of a listing row, TMDL or notice.",
    Cycle "cycle" "List cycle of a listing row or assessment unit.",
    State "state" "State or organisation of an assessment unit.",
    Impaired "impaired" "Whether a water, or a parameter of it, is impaired: `yes` or `no`, by codes.",
    On303dList "on_303d_list" "Whether a unit is on the 303(d) list: `yes` or `no`, by codes.",
    HasTmdl "has_tmdl" "Whether a unit is said to have a TMDL: `yes` or `no`, by codes; a hint only.",
    Hydrosequence "hydrosequence" "NHDPlus hydrosequence of a watercourse: larger is farther up.",
    Fcode "fcode" "NHD FCode, five digits.",
    Ftype "ftype" "NHD FType, as number or word.",
    ReceivingWater "receiving_water" "The water into which an outfall discharges, by id or name.",
    Water "water" "A water that a record speaks of, by id or name.",
    ApprovedOn "approved_on" "Date on which a TMDL was approved.",
    StormwaterRequirement "stormwater_requirement" "Whether a TMDL has stormwater requirements: `yes`, `no` or `unknown`, by codes.",
    AllocationsMet "allocations_met" "Whether the allocations of a TMDL are met: `yes`, `no` or `unknown`, by codes.",
    ReviewedOn "reviewed_on" "Date on which the review of a TMDL was recorded.",
    Extent "extent" "Whether a polygon is the `water` or its `watershed`, by codes.",
    Permit "permit" "The permit whose list it is.",
    Appendix "appendix" "The part of the permit.",
    Date "date" "The date of a record.",
    Standard "standard" "The water-quality standard that a notice names.",
}

/// One value or several, with `*` for any run of characters; case and outer blanks do not matter.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Pattern(pub Vec<String>);

impl Pattern {
    /// Whether a text matches any of the patterns.
    ///
    /// ```
    /// use headwall::settings::Pattern;
    /// let to = Pattern(vec!["TO *".into()]);
    /// assert!(to.matches(" to City of Elm "));
    /// assert!(!to.matches("FROM CITY OF ELM"));
    /// ```
    pub fn matches(&self, text: &str) -> bool {
        let text = text.trim().to_lowercase();
        self.0.iter().any(|pattern| wildcard(&pattern.trim().to_lowercase(), &text))
    }
}

/// Greedy match of `*`; steps back at most once for each star, so no pattern takes exponential time.
fn wildcard(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        if p < pattern.len() && pattern[p] == '*' {
            star = Some((p, t));
            p += 1;
        } else if p < pattern.len() && pattern[p] == text[t] {
            p += 1;
            t += 1;
        } else if let Some((star_p, star_t)) = star {
            p = star_p + 1;
            t = star_t + 1;
            star = Some((star_p, t));
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMore;
        impl<'de> Visitor<'de> for OneOrMore {
            type Value = Pattern;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a value or a list of values")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Pattern, E> {
                Ok(Pattern(vec![text.to_owned()]))
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Pattern, E> {
                Ok(Pattern(vec![number.to_string()]))
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Pattern, E> {
                Ok(Pattern(vec![number.to_string()]))
            }
            fn visit_bool<E: de::Error>(self, truth: bool) -> Result<Pattern, E> {
                Ok(Pattern(vec![truth.to_string()]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Pattern, A::Error> {
                let mut all = Vec::new();
                while let Some(Pattern(one)) = seq.next_element()? {
                    all.extend(one);
                }
                Ok(Pattern(all))
            }
        }
        deserializer.deserialize_any(OneOrMore)
    }
}

/// How one field is read.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldMapping {
    /// The source's own field name, in its own spelling.
    pub field: String,
    /// The unit of its numbers.
    pub unit: Option<LengthUnit>,
    /// Numbers or texts that mean "no value".
    pub missing: Pattern,
    /// From the town's codes to our words: `live = ["ACT", "In service"]`.
    pub codes: BTreeMap<String, Pattern>,
    /// The word for an empty field.
    pub when_missing: Option<String>,
    /// The word for a code that `codes` does not list.
    pub when_unknown: Option<String>,
    /// How a level is stated: `elevation`, `depth_below_rim`, `offset_above_node`.
    pub level: Option<String>,
    /// The vertical datum of a level.
    pub datum: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FieldTable {
    field: String,
    unit: Option<LengthUnit>,
    #[serde(default)]
    missing: Pattern,
    #[serde(default)]
    codes: BTreeMap<String, Pattern>,
    when_missing: Option<String>,
    when_unknown: Option<String>,
    level: Option<String>,
    datum: Option<String>,
}

impl FieldMapping {
    /// A field that is read as it is.
    pub fn plain(field: impl Into<String>) -> Self {
        FieldMapping {
            field: field.into(),
            unit: None,
            missing: Pattern::default(),
            codes: BTreeMap::new(),
            when_missing: None,
            when_unknown: None,
            level: None,
            datum: None,
        }
    }
}

impl<'de> Deserialize<'de> for FieldMapping {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Table(FieldTable);
        impl<'de> Deserialize<'de> for Table {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                FieldTable::deserialize(deserializer).map(Table)
            }
        }
        let Table(t) = short_or_table(deserializer, "a field name, or a table with `field`", |field| {
            Table(FieldTable {
                field,
                unit: None,
                missing: Pattern::default(),
                codes: BTreeMap::new(),
                when_missing: None,
                when_unknown: None,
                level: None,
                datum: None,
            })
        })?;
        Ok(FieldMapping {
            field: t.field,
            unit: t.unit,
            missing: t.missing,
            codes: t.codes,
            when_missing: t.when_missing,
            when_unknown: t.when_unknown,
            level: t.level,
            datum: t.datum,
        })
    }
}

/// Sets words for features whose fields match: for what no single field says.
///
/// ```toml
/// [[layer.rule]]
/// when = { INTERCONNECTION = "Yes", TO_FROM = "FROM *" }
/// set = { outfall_kind = "interconnection_in" }
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Every one of these fields has to match.
    pub when: BTreeMap<String, Pattern>,
    /// What then holds.
    pub set: BTreeMap<Meaning, String>,
}
