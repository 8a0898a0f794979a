//! What is doubtful in the maps? Gaps, reversed pipes, missing inverts: kept, counted, drawn, never repaired in silence.

use std::fmt;

/// How much an issue can change an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; answers stay right.
    Note,
    /// May change an answer.
    Warning,
    /// Does change answers where it lies.
    Error,
}

impl Severity {
    /// The word people see.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

macro_rules! issue_codes {
    ($($(#[$doc:meta])* $name:ident, $text:literal, $severity:ident, $meaning:literal;)*) => {
        /// What sort of doubt it is. The text forms are stable: reports, exports and the shared cases use them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum IssueCode { $(#[doc = $meaning] $name,)* }

        impl IssueCode {
            /// Every code, in the order in which they are listed to people.
            pub const ALL: &'static [IssueCode] = &[$(IssueCode::$name,)*];

            /// The stable text form.
            pub fn as_str(self) -> &'static str {
                match self { $(IssueCode::$name => $text,)* }
            }

            /// One sentence for people.
            pub fn meaning(self) -> &'static str {
                match self { $(IssueCode::$name => $meaning,)* }
            }

            /// How much it can change an answer.
            pub fn severity(self) -> Severity {
                match self { $(IssueCode::$name => Severity::$severity,)* }
            }
        }
    };
}

issue_codes! {
    InputIncomplete, "input-incomplete", Error, "the file itself says that it holds only a part of the data";
    NearMiss, "near-miss", Error, "two ends, or an end and a structure, lie close together but are not joined";
    MultipartGap, "multipart-gap", Error, "the parts of one record do not meet";
    NodeIdContradictsGeometry, "node-id-contradicts-geometry", Error, "a node id names a structure far from the drawn end";
    NodeIdUnknown, "node-id-unknown", Warning, "a node id names no structure";
    NodeIdMissing, "node-id-missing", Warning, "a node id is empty";
    AmbiguousSnap, "ambiguous-snap", Warning, "an end could belong to either of two structures and was joined to neither";
    NoOutfall, "no-outfall", Warning, "a run of conduits reaches no outfall on the map";
    NoWayOut, "no-way-out", Warning, "water has no way out of a place that is no outfall";
    OutfallNotConnected, "outfall-not-connected", Warning, "no conduit ends at this outfall";
    OutfallOnlyLeadsAway, "outfall-only-leads-away", Warning, "conduits only lead away from this outfall";
    Loop, "loop", Warning, "conduits run round in a circle";
    SelfLoop, "self-loop", Warning, "a conduit returns to its own start";
    ZeroLength, "zero-length", Warning, "a conduit has no length";
    ShorterThanTolerance, "shorter-than-tolerance", Note, "a conduit is shorter than the snap tolerance, so both its ends are one place";
    DuplicateGeometry, "duplicate-geometry", Warning, "the same line is drawn more than once";
    DrawnAgainstFlow, "drawn-against-flow", Note, "a conduit is drawn from its lower end";
    FlowFieldContradicts, "flow-field-contradicts", Warning, "the flow code says otherwise than the source that decided the direction";
    NodeIdsContradictFlow, "node-ids-contradict-flow", Warning, "the node ids say otherwise than the source that decided the direction";
    AdverseSlope, "adverse-slope", Warning, "a conduit rises in the direction of flow";
    DirectionUnknown, "direction-unknown", Warning, "the flow code says nothing, or no source says which way water goes";
    ImplausibleSlope, "implausible-slope", Warning, "the inverts make a fall that cannot be";
    InvertMissing, "invert-missing", Note, "an invert is missing or a placeholder";
    StatusMissing, "status-missing", Note, "the life-cycle status is empty";
    StatusUnknown, "status-unknown", Warning, "the life-cycle status is a code that the town file does not explain";
    CodeUnknown, "code-unknown", Warning, "a field holds a code that the town file does not explain";
    NullGeometry, "null-geometry", Warning, "a feature has no place on the map";
    WrongGeometryType, "wrong-geometry-type", Warning, "a feature's geometry is of a type that its role cannot use";
    InvalidGeometry, "invalid-geometry", Warning, "an outline crosses itself";
    NonFinite, "non-finite", Warning, "a coordinate, height or measure is not a number";
    CurveUnreadable, "curve-unreadable", Error, "a curve could not be followed";
    DuplicateId, "duplicate-id", Warning, "an id is used more than once in its layer";
    IdMissing, "id-missing", Warning, "a feature has no id";
    StackedParcels, "stacked-parcels", Note, "several parcels share one outline";
    DateInvalid, "date-invalid", Note, "a date cannot be";
    ValueUnreadable, "value-unreadable", Warning, "a value cannot be read as what its field should hold";
    EncodingAssumed, "encoding-assumed", Note, "the file does not say its text encoding, so one was assumed";
    EncodingContradicts, "encoding-contradicts", Warning, "the text is not in the encoding that the file names";
    AxesSwapped, "axes-swapped", Warning, "longitude and latitude seem to have changed places";
    UndefinedName, "undefined-name", Warning, "a name is used that the file does not define";
    UnitWithoutGeometry, "unit-without-geometry", Warning, "a listed water is not on the map";
    LateralNotJoined, "lateral-not-joined", Note, "a lateral meets no conduit";
    CorrectionFeatureGone, "correction-feature-gone", Error, "a correction relied on a feature that is gone";
    CorrectionFeatureChanged, "correction-feature-changed", Error, "a correction relied on a feature that has changed in the source since";
    CorrectionNowInSource, "correction-now-in-source", Note, "what a correction added is in the source by now";
    FeaturesLeftOut, "features-left-out", Note, "features were left out because the town file says so";
}

impl fmt::Display for IssueCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One doubt about the maps, with everything needed to find it on the map and in the source file.
#[derive(Clone, Debug, PartialEq)]
pub struct DataIssue {
    /// What sort of doubt.
    pub code: IssueCode,
    /// The layer's name in `headwall.toml`.
    pub layer: String,
    /// The features that it concerns, by their ids in that layer.
    pub ids: Vec<String>,
    /// The file, where the doubt is about the file as a whole.
    pub file: Option<String>,
    /// The source's own field name.
    pub field: Option<String>,
    /// What the field holds.
    pub value: Option<String>,
    /// The structure at which it lies.
    pub node: Option<String>,
    /// A gap, a misfit or a rise in metres, as the code means it.
    pub distance_m: Option<f64>,
    /// Where it lies, in the coordinates used inside (metres of the working CRS).
    pub at: Option<[f64; 2]>,
    /// One sentence for people.
    pub message: String,
}

impl DataIssue {
    /// An issue of a layer, with the code's own sentence until [`message`](Self::message) gives a better one.
    pub fn new(code: IssueCode, layer: impl Into<String>) -> Self {
        DataIssue {
            code,
            layer: layer.into(),
            ids: Vec::new(),
            file: None,
            field: None,
            value: None,
            node: None,
            distance_m: None,
            at: None,
            message: code.meaning().to_owned(),
        }
    }

    /// Adds a feature.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.ids.push(id.into());
        self
    }

    /// Adds features.
    pub fn ids(mut self, ids: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.ids.extend(ids.into_iter().map(Into::into));
        self
    }

    /// Names the file.
    pub fn file(mut self, file: impl Into<String>) -> Self {
        self.file = Some(file.into());
        self
    }

    /// Names the source's field.
    pub fn field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    /// Quotes what the field holds.
    pub fn value(mut self, value: impl Into<String>) -> Self {
        self.value = Some(value.into());
        self
    }

    /// Names the structure at which it lies.
    pub fn node(mut self, node: impl Into<String>) -> Self {
        self.node = Some(node.into());
        self
    }

    /// States a gap, misfit or rise in metres.
    pub fn distance_m(mut self, distance_m: f64) -> Self {
        self.distance_m = Some(distance_m);
        self
    }

    /// States the place, in the coordinates used inside.
    pub fn at(mut self, x: f64, y: f64) -> Self {
        self.at = Some([x, y]);
        self
    }

    /// Gives the sentence for people.
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }
}
