//! What has the town mapped? Conduits, structures, parcels and the layers beside them, as plain typed data.
//!
//! Coordinates are those used inside: metres of the working CRS (see [`crate::crs`]).
//! Lists are sorted by [`Key`], so that the order of features in a file changes nothing.
//! Original attributes are not here: see [`crate::ingest::Originals`].

use std::fmt;
use std::sync::Arc;

use geo::{LineString, MultiLineString, MultiPolygon, Point};
use jiff::civil::Date;

mod words;
pub use words::{ConduitKind, LandLayerKind, Material, OutfallKind, Shape, Status, StructureKind, System, WaterKind};

/// A layer by its place among the layers sorted by name, so that comparing indices compares names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LayerIndex(pub u16);

/// What names a feature: its layer and its id as text (trimmed, a trailing `.0` of a number dropped, leading zeros kept).
///
/// The driver's own row number is never a key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The layer.
    pub layer: LayerIndex,
    /// The id; `~` and a hash where the source has none.
    pub id: Arc<str>,
}

impl Key {
    /// The id as the town writes it, without the hash that tells the holders of a repeated id apart; the whole where there is no other.
    ///
    /// ```
    /// use headwall::inventory::{Key, LayerIndex};
    /// let key = |id: &str| Key { layer: LayerIndex(0), id: id.into() };
    /// assert_eq!(key("MH-5~0a1b2c3d").plain_id(), "MH-5");
    /// assert_eq!(key("MH-5~0a1b2c3d-2").plain_id(), "MH-5");
    /// assert_eq!(key("~0a1b2c3d").plain_id(), "~0a1b2c3d");
    /// assert_eq!(key("A~B").plain_id(), "A~B");
    /// ```
    pub fn plain_id(&self) -> &str {
        let Some((plain, suffix)) = self.id.rsplit_once('~') else { return &self.id };
        let (hash, count) = suffix.split_once('-').unwrap_or((suffix, "0"));
        let is_hash = hash.len() == 8 && hash.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        if is_hash && count.bytes().all(|b| b.is_ascii_digit()) && !plain.is_empty() { plain } else { &self.id }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.id)
    }
}

/// Makes one text of the ways in which one id is written: blanks trimmed, `12.0` and `12.` of a number become `12`.
///
/// Leading zeros stay, and `V1.0` stays, since only a number has a decimal point that means nothing.
///
/// ```
/// use headwall::inventory::normalised_id;
/// assert_eq!(normalised_id(" 14.0 "), "14");
/// assert_eq!(normalised_id("0012"), "0012");
/// assert_eq!(normalised_id("7.5"), "7.5");
/// assert_eq!(normalised_id("V1.0"), "V1.0");
/// ```
pub fn normalised_id(text: &str) -> &str {
    let text = text.trim();
    if let Some((whole, fraction)) = text.split_once('.') {
        let digits = whole.strip_prefix('-').unwrap_or(whole);
        let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        if is_number && fraction.bytes().all(|b| b == b'0') {
            return whole;
        }
    }
    text
}

/// How a level (invert, rim, sump) is stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LevelKind {
    /// Height above the vertical datum.
    Elevation,
    /// Depth below the rim of the structure at that end.
    DepthBelowRim,
    /// Height above the invert of the structure at that end.
    OffsetAboveNode,
}

/// A level as the town states it.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// The number, in metres.
    pub value_m: f64,
    /// What it is measured from.
    pub kind: LevelKind,
    /// The vertical datum's name; levels are compared only within one. `None` is the town's unnamed one.
    pub datum: Option<Arc<str>>,
}

/// What the town's flow code says about a conduit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowCode {
    /// The layer has no flow field.
    NotMapped,
    /// There is one, and it says nothing here.
    SaysNothing,
    /// Water goes as the line is drawn.
    WithDrawing,
    /// Water goes against the drawing.
    AgainstDrawing,
}

/// A node id as a conduit carries it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeId {
    /// The layer has no such field.
    NotMapped,
    /// There is one, and it is empty here.
    Missing,
    /// What it says, normalised.
    Named(Arc<str>),
}

impl NodeId {
    /// The id, if it says one.
    pub fn named(&self) -> Option<&str> {
        match self {
            NodeId::Named(id) => Some(id),
            _ => None,
        }
    }
}

/// A level field of a feature.
#[derive(Clone, Debug, PartialEq)]
pub enum LevelField {
    /// The layer has no such field.
    NotMapped,
    /// There is one, and it is empty, unreadable or a missing-value marker here.
    Missing,
    /// A level.
    Given(Level),
}

impl LevelField {
    /// The level, if one is given.
    pub fn given(&self) -> Option<&Level> {
        match self {
            LevelField::Given(level) => Some(level),
            _ => None,
        }
    }
}

/// A pipe, culvert, ditch, channel or gutter.
#[derive(Clone, Debug, PartialEq)]
pub struct Conduit {
    /// What names it.
    pub key: Key,
    /// What it is.
    pub kind: ConduitKind,
    /// Its parts as drawn, coordinates in metres; empty where it was never drawn.
    pub parts: Vec<LineString>,
    /// The from-node id.
    pub node_from: NodeId,
    /// The to-node id.
    pub node_to: NodeId,
    /// Invert at the first vertex or the from-node.
    pub invert_from: LevelField,
    /// Invert at the last vertex or the to-node.
    pub invert_to: LevelField,
    /// The flow code.
    pub flow: FlowCode,
    /// Inside width (diameter of a round pipe) in millimetres.
    pub diameter_mm: Option<f64>,
    /// Inside height in millimetres where it differs from the width.
    pub height_mm: Option<f64>,
    /// Cross-section.
    pub shape: Shape,
    /// Material.
    pub material: Material,
    /// Number of parallel barrels.
    pub barrels: Option<u32>,
    /// Year of installation.
    pub year_installed: Option<i32>,
    /// Life-cycle status.
    pub status: Status,
    /// Storm, combined, sanitary or unknown.
    pub system: System,
    /// Who owns it.
    pub owner: Option<Arc<str>>,
    /// Who runs it.
    pub operator: Option<Arc<str>>,
    /// True for a force main or siphon, in which water climbs.
    pub pressurised: bool,
    /// The outfall to which the town itself assigns it, where it says so.
    pub assigned_outfall: Option<Arc<str>>,
}

impl Conduit {
    /// True where it carries water by its life-cycle status.
    pub fn is_live(&self) -> bool {
        self.status == Status::Live
    }
}

/// A manhole, catch basin, inlet, outfall, pump station, pond or junction.
#[derive(Clone, Debug, PartialEq)]
pub struct Structure {
    /// What names it.
    pub key: Key,
    /// What it is.
    pub kind: StructureKind,
    /// What kind of outfall, where it is one.
    pub outfall_kind: Option<OutfallKind>,
    /// Its place; `None` where it was never drawn.
    pub place: Option<Point>,
    /// Its shore, where it is a pond or basin drawn as a polygon.
    pub area: Option<MultiPolygon>,
    /// Rim or ground level.
    pub rim: LevelField,
    /// Lowest invert.
    pub invert: LevelField,
    /// Sump depth below the lowest invert, metres.
    pub sump_m: Option<f64>,
    /// Life-cycle status.
    pub status: Status,
    /// Storm, combined, sanitary or unknown.
    pub system: System,
    /// Who owns it.
    pub owner: Option<Arc<str>>,
    /// Who runs it.
    pub operator: Option<Arc<str>>,
    /// The other system to which an interconnection leads or from which it comes, in the town's words.
    pub other_system: Option<Arc<str>>,
    /// A name or location for people.
    pub name: Option<Arc<str>>,
    /// A second id by which conduits may name it.
    pub also_known_as: Option<Arc<str>>,
    /// The water into which it discharges, by id or name, where the town says so.
    pub receiving_water: Option<Arc<str>>,
    /// Farthest distance at which a conduit's end belongs to it, metres.
    pub tolerance_m: f64,
}

/// A lateral: a service line from a premises, drawn or known by its attributes.
#[derive(Clone, Debug, PartialEq)]
pub struct Lateral {
    /// What names it.
    pub key: Key,
    /// Its parts as drawn; empty where it was never drawn.
    pub parts: Vec<LineString>,
    /// The conduit that its attributes name.
    pub conduit: Option<Arc<str>>,
    /// The parcel that its attributes name.
    pub parcel: Option<Arc<str>>,
    /// Life-cycle status.
    pub status: Status,
    /// Storm, combined, sanitary or unknown.
    pub system: System,
    /// Whether a record documents it; `None` where the town does not say.
    pub documented: Option<bool>,
    /// Whether it was approved; `None` where the town does not say.
    pub approved: Option<bool>,
}

/// A tax parcel.
#[derive(Clone, Debug, PartialEq)]
pub struct Parcel {
    /// What names it.
    pub key: Key,
    /// Its outline; `None` where it was never drawn. Where the drawn outline crosses itself, all that it encloses.
    pub outline: Option<MultiPolygon>,
    /// Land-use class in the town's scheme, as text.
    pub land_use: Option<Arc<str>>,
    /// What it is used as, in words, where the roll says so.
    pub used_as: Option<Arc<str>>,
    /// Address for people.
    pub address: Option<Arc<str>>,
    /// Year the main building was built.
    pub year_built: Option<i32>,
    /// How sewage leaves it: public sewer, private (septic), none; as a word of the town file.
    pub sewer: Option<Arc<str>>,
}

/// A place of business, a permit, a septic system or a municipal facility: a point or area with a class.
#[derive(Clone, Debug, PartialEq)]
pub struct Premises {
    /// What names it.
    pub key: Key,
    /// Which kind of layer it is from.
    pub layer_kind: LandLayerKind,
    /// Its place, or a point within its area.
    pub place: Option<Point>,
    /// The parcel that its attributes name.
    pub parcel: Option<Arc<str>>,
    /// SIC code, digits.
    pub sic: Option<Arc<str>>,
    /// NAICS code, digits.
    pub naics: Option<Arc<str>>,
    /// Business name or kind for people.
    pub name: Option<Arc<str>>,
    /// Year, where the layer has one (age of a septic system, date of a permit).
    pub year: Option<i32>,
}

/// Land that drains to an inlet or an outfall, as a polygon that was given.
#[derive(Clone, Debug, PartialEq)]
pub struct DrainageArea {
    /// What names it.
    pub key: Key,
    /// Its outline.
    pub outline: Option<MultiPolygon>,
    /// The structure to which it drains, by id; `None` where only its place can tell.
    pub drains_to: Option<Arc<str>>,
    /// True for the catchment of an outfall, false for the area of one inlet.
    pub whole_catchment: bool,
}

/// A watercourse or waterbody.
#[derive(Clone, Debug, PartialEq)]
pub struct Water {
    /// What names it.
    pub key: Key,
    /// What it is.
    pub kind: WaterKind,
    /// Its course, where it is a line.
    pub course: Option<MultiLineString>,
    /// Its shore, where it is an area.
    pub shore: Option<MultiPolygon>,
    /// Its name.
    pub name: Option<Arc<str>>,
    /// The node from which its water comes, in its layer's own numbers (NHD).
    pub node_from: NodeId,
    /// The node to which its water goes.
    pub node_to: NodeId,
    /// What its flow field says of the drawing.
    pub flow: FlowCode,
    /// NHDPlus hydrosequence: larger is farther up.
    pub hydrosequence: Option<i64>,
    /// NHD feature code.
    pub fcode: Option<u32>,
    /// The assessment unit to which its own attributes assign it.
    pub unit: Option<Arc<str>>,
}

impl Water {
    /// Whether it is a water that can receive a discharge: no copy of a town's pipe, no boundary.
    pub fn receives(&self) -> bool {
        !matches!(self.kind, WaterKind::StormPipe | WaterKind::Coastline)
    }
}

/// An assessment unit as drawn: the piece of water that is listed. A unit may have several shapes.
#[derive(Clone, Debug, PartialEq)]
pub struct AssessmentUnit {
    /// What names the feature.
    pub key: Key,
    /// The unit's own id.
    pub unit: Arc<str>,
    /// Its name.
    pub name: Option<Arc<str>>,
    /// State or organisation.
    pub state: Option<Arc<str>>,
    /// List cycle of its attributes.
    pub cycle: Option<i32>,
    /// IR category of the unit as a whole, as it is spelled.
    pub category: Option<Arc<str>>,
    /// Whether it is said to be impaired.
    pub impaired: Option<bool>,
    /// Whether it is said to be on the 303(d) list.
    pub on_303d_list: Option<bool>,
    /// Whether it is said to have a TMDL.
    pub has_tmdl: Option<bool>,
    /// Causes by the unit's own columns.
    pub causes: Vec<Arc<str>>,
    /// Its lines.
    pub course: Option<MultiLineString>,
    /// Its areas.
    pub shore: Option<MultiPolygon>,
    /// Its points.
    pub points: Vec<Point>,
}

/// A row of a listing: a unit, a parameter, a category, a cycle.
#[derive(Clone, Debug, PartialEq)]
pub struct ListingRow {
    /// What names the row.
    pub key: Key,
    /// The unit.
    pub unit: Arc<str>,
    /// Its name, where the row says it.
    pub name: Option<Arc<str>>,
    /// The parameter or cause.
    pub cause: Option<Arc<str>>,
    /// The IR category, as it is spelled.
    pub category: Option<Arc<str>>,
    /// Whether the row says that it impairs the water.
    pub impaired: Option<bool>,
    /// List cycle.
    pub cycle: Option<i32>,
}

/// Of what a TMDL's polygon is the outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The water itself.
    Water,
    /// All the land that drains to it.
    Watershed,
}

/// An approved total maximum daily load.
#[derive(Clone, Debug, PartialEq)]
pub struct TmdlAction {
    /// What names the row; several rows may be one action.
    pub key: Key,
    /// Its name.
    pub name: Option<Arc<str>>,
    /// The assessment unit for which it is.
    pub unit: Option<Arc<str>>,
    /// The water for which it is, by id or name.
    pub water: Option<Arc<str>>,
    /// The pollutant.
    pub cause: Option<Arc<str>>,
    /// When it was approved.
    pub approved_on: Option<Date>,
    /// Whether it has stormwater requirements; `None` where nobody has established it.
    pub stormwater_requirement: Option<bool>,
    /// Whether its allocations are met; `None` where nobody says.
    pub allocations_met: Option<bool>,
    /// When its review was recorded.
    pub reviewed_on: Option<Date>,
    /// What its polygon outlines.
    pub extent: Extent,
    /// Its polygon.
    pub area: Option<MultiPolygon>,
}

/// A row of the permit's own list of impaired waters.
#[derive(Clone, Debug, PartialEq)]
pub struct PermitListing {
    /// What names the row.
    pub key: Key,
    /// The assessment unit.
    pub unit: Option<Arc<str>>,
    /// The water, by id or name.
    pub water: Option<Arc<str>>,
    /// The pollutant.
    pub cause: Option<Arc<str>>,
    /// The permit.
    pub permit: Option<Arc<str>>,
    /// The part of the permit.
    pub appendix: Option<Arc<str>>,
    /// Its date.
    pub date: Option<Date>,
}

/// A recorded notice that the town's discharge may cause a water-quality standard to be missed.
#[derive(Clone, Debug, PartialEq)]
pub struct WaterNotice {
    /// What names it.
    pub key: Key,
    /// The assessment unit.
    pub unit: Option<Arc<str>>,
    /// The water, by id or name.
    pub water: Option<Arc<str>>,
    /// The pollutant.
    pub cause: Option<Arc<str>>,
    /// The standard.
    pub standard: Option<Arc<str>>,
    /// When the town was told.
    pub date: Option<Date>,
}

/// What else is on the map, kept for drawing, searching and later questions.
#[derive(Clone, Debug, PartialEq)]
pub struct Backdrop {
    /// What names it.
    pub key: Key,
    /// The drawn shape.
    pub shape: Option<geo::Geometry>,
    /// A name or address for people.
    pub name: Option<Arc<str>>,
}

/// A layer as the town named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerInfo {
    /// Its name in `headwall.toml`.
    pub name: Arc<str>,
    /// The file it came from, by name.
    pub file: String,
    /// Its role, as the word of `headwall.toml`.
    pub role: String,
    /// Features read.
    pub read: usize,
    /// Features that can be used for their role.
    pub usable: usize,
}

/// All that the town has mapped, typed, without the original attributes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inventory {
    /// The layers, sorted by name.
    pub layers: Vec<LayerInfo>,
    /// Pipes, culverts, ditches.
    pub conduits: Vec<Conduit>,
    /// Manholes, basins, outfalls, ponds.
    pub structures: Vec<Structure>,
    /// Service lines.
    pub laterals: Vec<Lateral>,
    /// Tax parcels.
    pub parcels: Vec<Parcel>,
    /// Businesses, permits, septic systems, municipal facilities.
    pub premises: Vec<Premises>,
    /// Inlet areas and catchments that were given.
    pub drainage_areas: Vec<DrainageArea>,
    /// Watercourses and waterbodies.
    pub waters: Vec<Water>,
    /// Assessment units as drawn.
    pub units: Vec<AssessmentUnit>,
    /// Rows of listings.
    pub listing: Vec<ListingRow>,
    /// TMDL actions.
    pub tmdls: Vec<TmdlAction>,
    /// The permit's own list.
    pub permit_listing: Vec<PermitListing>,
    /// Notices about water-quality standards.
    pub notices: Vec<WaterNotice>,
    /// Streets, buildings, addresses, sanitary and water mains, the boundary.
    pub backdrops: Vec<Backdrop>,
}

impl Inventory {
    /// The name of a layer.
    pub fn layer_name(&self, layer: LayerIndex) -> &str {
        self.layers.get(usize::from(layer.0)).map_or("?", |l| &l.name)
    }

    /// The layer of that name.
    pub fn layer_index(&self, name: &str) -> Option<LayerIndex> {
        let at = self.layers.binary_search_by(|l| (*l.name).cmp(name)).ok()?;
        u16::try_from(at).ok().map(LayerIndex)
    }

    /// True where at least one layer of the role was given, even if it is empty.
    pub fn has_role(&self, role: &str) -> bool {
        self.layers.iter().any(|l| l.role == role)
    }

    /// Sorts every list by key; what builds an inventory calls this last.
    pub fn sort(&mut self) {
        self.conduits.sort_by(|a, b| a.key.cmp(&b.key));
        self.structures.sort_by(|a, b| a.key.cmp(&b.key));
        self.laterals.sort_by(|a, b| a.key.cmp(&b.key));
        self.parcels.sort_by(|a, b| a.key.cmp(&b.key));
        self.premises.sort_by(|a, b| a.key.cmp(&b.key));
        self.drainage_areas.sort_by(|a, b| a.key.cmp(&b.key));
        self.waters.sort_by(|a, b| a.key.cmp(&b.key));
        self.units.sort_by(|a, b| a.key.cmp(&b.key));
        self.listing.sort_by(|a, b| a.key.cmp(&b.key));
        self.tmdls.sort_by(|a, b| a.key.cmp(&b.key));
        self.permit_listing.sort_by(|a, b| a.key.cmp(&b.key));
        self.notices.sort_by(|a, b| a.key.cmp(&b.key));
        self.backdrops.sort_by(|a, b| a.key.cmp(&b.key));
    }
}
