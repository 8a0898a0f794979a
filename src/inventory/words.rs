//! Which words does the field use? The vocabularies of the inventory, each with its stable text form.

use std::fmt;

macro_rules! vocabulary {
    ($(#[$doc:meta])* $name:ident { $($variant:ident $text:literal $meaning:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $(#[doc = $meaning] $variant,)* }

        impl $name {
            /// Every word, in order.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// The stable text form, as in `headwall.toml`, exports and reports.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            /// The value of a text form.
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($text => Some($name::$variant),)* _ => None }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}

vocabulary! {
    /// What a conduit is.
    ConduitKind {
        Pipe "pipe" "A closed pipe.",
        Culvert "culvert" "A pipe under a road, embankment or building.",
        Ditch "ditch" "An open ditch or swale.",
        Channel "channel" "A lined or natural open channel.",
        Gutter "gutter" "A street gutter.",
        Lead "lead" "A lead from a catch basin to the main.",
        Underdrain "underdrain" "A perforated drain under the ground.",
        Weir "weir" "A weir or overflow.",
        Orifice "orifice" "An orifice or outlet.",
        Pump "pump" "A pump as a link.",
        Other "other" "Something else that carries water.",
        Unknown "unknown" "Not stated.",
    }
}

vocabulary! {
    /// What a structure is.
    StructureKind {
        Manhole "manhole" "A manhole.",
        CatchBasin "catch_basin" "A catch basin, with a sump.",
        Inlet "inlet" "An inlet without a sump.",
        Outfall "outfall" "Where the system discharges.",
        PumpStation "pump_station" "A pump station or wet well.",
        Pond "pond" "A pond, basin or other BMP that holds water.",
        Junction "junction" "A joint without a cover.",
        Cleanout "cleanout" "A cleanout.",
        CulvertEnd "culvert_end" "The open end of a culvert or ditch.",
        Regulator "regulator" "A weir chamber, regulator, gate or diversion structure.",
        Other "other" "Something else at a point.",
        Unknown "unknown" "Not stated.",
    }
}

vocabulary! {
    /// What kind of outfall it is. Permit counts use the first four (`domain.md` 2.2: monitoring locations).
    OutfallKind {
        Ms4Outfall "ms4_outfall" "The town's own outfall to a water (40 CFR 122.26(b)(9)).",
        InterconnectionOut "interconnection_out" "Where the system hands over to another MS4 or a private system.",
        InterconnectionIn "interconnection_in" "Where another MS4 or a private system enters.",
        FacilityIntraconnection "facility_intraconnection" "Where a municipal facility enters the town's own system.",
        OtherOwner "other_owner" "An outfall that somebody else owns.",
        Cso "cso" "A combined sewer overflow.",
        Unknown "unknown" "Not stated.",
    }
}

vocabulary! {
    /// Where an asset stands in its life.
    Status {
        Live "live" "In use.",
        Abandoned "abandoned" "Out of use, still in the ground.",
        Proposed "proposed" "Planned or under construction.",
        Removed "removed" "Taken out of the ground.",
        Unknown "unknown" "A code that nobody explained; carries no flow unless the town file says so.",
    }
}

vocabulary! {
    /// Which system an asset belongs to.
    System {
        Storm "storm" "Storm water.",
        Combined "combined" "Sewage and storm water in one pipe.",
        Sanitary "sanitary" "Sewage.",
        Unknown "unknown" "Not stated.",
    }
}

vocabulary! {
    /// Cross-section of a conduit.
    Shape {
        Circular "circular" "Round.",
        Elliptical "elliptical" "Elliptical, arch or egg-shaped.",
        Box "box" "Rectangular and closed.",
        Open "open" "Open: ditch or channel.",
        Other "other" "Another shape.",
        Unknown "unknown" "Not stated.",
    }
}

vocabulary! {
    /// Material of a conduit, as far as roughness needs it.
    Material {
        Concrete "concrete" "Concrete, plain or reinforced.",
        Clay "clay" "Vitrified clay.",
        Plastic "plastic" "PVC, HDPE and kin, smooth inside.",
        CorrugatedPlastic "corrugated_plastic" "Corrugated plastic.",
        CorrugatedMetal "corrugated_metal" "Corrugated metal.",
        Iron "iron" "Cast or ductile iron, steel.",
        Brick "brick" "Brick or stone masonry.",
        Earth "earth" "Earth or grass.",
        Rock "rock" "Rip-rap or rock.",
        Other "other" "Another material.",
        Unknown "unknown" "Not stated.",
    }
}

vocabulary! {
    /// Which kind of layer a premises is from.
    LandLayerKind {
        Business "businesses" "A place of business.",
        Permit "permits" "A discharge permit.",
        Septic "septic_systems" "An individual sewage treatment system.",
        Facility "municipal_facilities" "A municipal facility.",
    }
}

vocabulary! {
    /// What a water is.
    WaterKind {
        Stream "stream" "A stream, river or brook.",
        Ditch "ditch" "A canal or ditch mapped as water.",
        Lake "lake" "A lake, pond or reservoir.",
        Underground "underground" "A stream in an underground conduit.",
        Routing "routing" "A line through a lake or an unknown course, drawn only to carry the flow on.",
        Pipeline "pipeline" "A pipeline, aqueduct or penstock mapped with the waters.",
        StormPipe "storm_pipe" "A storm pipe mapped with the waters (NHD 42820 to 42824): it may be one of the town's own.",
        Coastline "coastline" "A coastline: a boundary, not a course.",
        Other "other" "Another water.",
    }
}
