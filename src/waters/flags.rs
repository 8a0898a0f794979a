//! Which outfall is under which special condition, for which water and pollutant, direct or downstream, by which list?
//!
//! One row for each outfall, water, pollutant and kind. What is unknown is a row or a sentence of its own, never passed as clean.

use std::collections::BTreeSet;
use std::sync::Arc;

use geo::Point;
use jiff::ToSpan;
use jiff::civil::Date;

use crate::inventory::{Extent, Inventory, OutfallKind, Status, StructureKind, TmdlAction};
use crate::network::StructureIndex;
use crate::settings::Settings;
use crate::trace::{Certainty, Ground};

use super::concern::Concerns;
use super::course::{WaterNetwork, is_called, off_area};
use super::listing::{Standing, StandingKind, Standings, pollutant_key, unit_key};
use super::way::{PassedUnit, WayDown, way_down};

macro_rules! kinds {
    ($($variant:ident $word:literal $meaning:literal $law:literal,)*) => {
        /// What sort of row it is: one of the law's four special conditions, or what has to be told beside them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum FlagKind { $(#[doc = $meaning] $variant,)* }

        impl FlagKind {
            /// Every kind.
            pub const ALL: &'static [FlagKind] = &[$(FlagKind::$variant,)*];

            /// The stable text form.
            pub fn word(self) -> &'static str {
                match self { $(FlagKind::$variant => $word,)* }
            }

            /// A few words for people.
            pub fn meaning(self) -> &'static str {
                match self { $(FlagKind::$variant => $meaning,)* }
            }

            /// Whether it is one of the four special conditions of the law.
            pub fn is_special_condition(self) -> bool {
                match self { $(FlagKind::$variant => $law,)* }
            }
        }
    };
}

kinds! {
    WaterQualityStandards "water_quality_standards" "water-quality standards: a recorded notice" true,
    Listed303d "303d" "303(d) list" true,
    Tmdl "tmdl" "TMDL with a stormwater requirement" true,
    FutureTmdl "future_tmdl" "future TMDL: approved after the programme date" true,
    TmdlRequirementNotEstablished "tmdl_requirement_not_established" "TMDL, stormwater requirement not established" false,
    TmdlNamedNotFound "tmdl_named_not_found" "TMDL named, not found" false,
    TmdlWithoutRequirement "tmdl_without_requirement" "TMDL without a stormwater requirement" false,
    CategoryUnknown "impaired_category_unknown" "impaired, category unknown" false,
    NoTmdlNeeded "impaired_no_tmdl_needed" "impaired, category 4B or 4C: no TMDL needed" false,
    PermitListOnly "permit_list_only" "on the permit's own list only" false,
}

/// How the water of an outfall comes to the listed water.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reached {
    /// It discharges into it.
    Direct,
    /// It discharges within the watershed for which the TMDL is.
    Watershed,
    /// It comes there so many metres farther down.
    Downstream(f64),
}

impl Reached {
    /// `direct`, `watershed` or `downstream`.
    pub fn word(self) -> &'static str {
        match self {
            Reached::Direct => "direct",
            Reached::Watershed => "watershed",
            Reached::Downstream(_) => "downstream",
        }
    }

    /// How far down, metres.
    pub fn distance_m(self) -> f64 {
        match self {
            Reached::Downstream(distance_m) => distance_m,
            _ => 0.0,
        }
    }
}

/// How the permit's own list and the 303(d) list agree on a water and pollutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PermitColumn {
    /// No permit list was given.
    NotGiven,
    /// On both.
    Both,
    /// On the permit's list only.
    PermitOnly,
    /// On the 303(d) list only.
    ListOnly,
    /// On neither.
    Neither,
}

impl PermitColumn {
    /// The stable text form.
    pub fn word(self) -> &'static str {
        match self {
            PermitColumn::NotGiven => "not given",
            PermitColumn::Both => "both",
            PermitColumn::PermitOnly => "permit only",
            PermitColumn::ListOnly => "303(d) only",
            PermitColumn::Neither => "neither",
        }
    }
}

/// What follows from a row, and how it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Follow {
    /// Nothing follows: it is information.
    Nothing(String),
    /// A standing duty, in words.
    Duty(String),
    /// Something is due on a date.
    Due(Date, String),
    /// The date has passed, and no review is recorded: the outcome is not recorded, which says nothing of what was done.
    OutcomeNotRecorded(Date, String),
}

impl Follow {
    /// In words.
    pub fn words(&self) -> &str {
        match self {
            Follow::Nothing(words) | Follow::Duty(words) | Follow::Due(_, words) | Follow::OutcomeNotRecorded(_, words) => words,
        }
    }

    /// The date, where there is one.
    pub fn date(&self) -> Option<Date> {
        match self {
            Follow::Due(date, _) | Follow::OutcomeNotRecorded(date, _) => Some(*date),
            _ => None,
        }
    }
}

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub struct Flag {
    /// The outfall.
    pub outfall: StructureIndex,
    /// The unit, or the water or action by its id where no unit is named.
    pub water: Arc<str>,
    /// Its name.
    pub water_name: Option<Arc<str>>,
    /// The pollutant; `None` where nobody says.
    pub pollutant: Option<Arc<str>>,
    /// What sort.
    pub kind: FlagKind,
    /// Direct, in the watershed, or downstream.
    pub reached: Reached,
    /// The category, as `4A`.
    pub category: Option<String>,
    /// The list cycle.
    pub cycle: Option<i32>,
    /// On what it rests: the list or action, and how the water comes there.
    pub basis: String,
    /// How sure the way is.
    pub certainty: Certainty,
    /// The permit's list beside the 303(d) list.
    pub permit: PermitColumn,
    /// The pollutant of concern that it is, and whether the permit asks for measures against it.
    pub concern: Option<(String, bool)>,
    /// What follows.
    pub follow: Follow,
    /// What the reader has to know with it.
    pub remarks: Vec<String>,
}

/// A TMDL row as it was tied to an outfall.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TmdlRow {
    /// Its place in the inventory's list.
    pub action: usize,
    /// How the water comes there.
    pub reached: Reached,
}

/// An outfall with its way and rows.
#[derive(Clone, Debug, PartialEq)]
pub struct OutfallConditions {
    /// The outfall.
    pub outfall: StructureIndex,
    /// Its kind.
    pub kind: OutfallKind,
    /// The way its water takes.
    pub way: WayDown,
    /// Its rows.
    pub flags: Vec<Flag>,
    /// What is not known, in sentences: never passed as clean.
    pub unknown: Vec<String>,
}

/// All outfalls with their rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions {
    /// By outfall, in the order of the inventory.
    pub outfalls: Vec<OutfallConditions>,
    /// What holds for all: what was not given, and what was too old.
    pub notes: Vec<String>,
}

impl Conditions {
    /// Every row, outfall by outfall.
    pub fn flags(&self) -> impl Iterator<Item = &Flag> {
        self.outfalls.iter().flat_map(|o| &o.flags)
    }
}

/// A list this many years old is said to be old: a state reports every second year (40 CFR 130.7(d)), and one report may be late (assumed).
const OLD_YEARS: i32 = 4;

/// Six calendar months later; the last day of a month that is too short.
///
/// ```
/// use headwall::waters::six_months_after;
/// use jiff::civil::date;
/// assert_eq!(six_months_after(date(2026, 8, 31)), Some(date(2027, 2, 28)));
/// assert_eq!(six_months_after(date(2027, 8, 31)), Some(date(2028, 2, 29)));
/// assert_eq!(six_months_after(date(2012, 6, 29)), Some(date(2012, 12, 29)));
/// ```
pub fn six_months_after(date: Date) -> Option<Date> {
    date.checked_add(6.months()).ok()
}

/// Works out the conditions of every outfall, as of a date.
pub fn conditions(ground: Ground, waters: &WaterNetwork, settings: &Settings, concerns: &Concerns, as_of: Date) -> Conditions {
    let inventory = ground.inventory;
    let standings = Standings::of(inventory);
    let judge = Judge { ground, waters, settings, concerns, standings: &standings, as_of };
    let outfalls = inventory.structures.iter().enumerate().filter(|(_, s)| {
        s.kind == StructureKind::Outfall
            && !matches!(s.status, Status::Removed | Status::Proposed)
            && !matches!(s.outfall_kind, Some(OutfallKind::InterconnectionIn))
    });
    let outfalls = outfalls.map(|(at, _)| judge.outfall(StructureIndex::from_at(at))).collect();
    Conditions { outfalls, notes: judge.notes() }
}

impl WayDown {
    /// The conditions of one place, as if it were an outfall.
    pub fn judge(
        self,
        ground: Ground,
        waters: &WaterNetwork,
        settings: &Settings,
        concerns: &Concerns,
        outfall: StructureIndex,
        as_of: Date,
    ) -> OutfallConditions {
        let standings = Standings::of(ground.inventory);
        Judge { ground, waters, settings, concerns, standings: &standings, as_of }.of_way(outfall, self)
    }
}

struct Judge<'a> {
    ground: Ground<'a>,
    waters: &'a WaterNetwork,
    settings: &'a Settings,
    concerns: &'a Concerns,
    standings: &'a Standings,
    as_of: Date,
}

/// A unit or water on a way, for matching records that name either.
struct Passed<'a> {
    way: &'a WayDown,
    inventory: &'a Inventory,
}

impl Passed<'_> {
    fn unit(&self, unit: &str) -> Option<&PassedUnit> {
        let key = unit_key(unit);
        self.way.units.iter().find(|u| unit_key(&self.inventory.units[u.shape].unit) == key)
    }

    /// How the way comes to a water or unit that is named by id or name.
    fn water(&self, written: &str) -> Option<(Reached, Certainty)> {
        let named = |w: &&super::way::PassedWater| {
            let water = &self.inventory.waters[w.water];
            is_called(water.key.plain_id(), water.name.as_deref(), written)
        };
        let by_water = self
            .way
            .waters
            .iter()
            .find(named)
            .map(|w| (if w.direct { Reached::Direct } else { Reached::Downstream(w.distance_m) }, w.certainty));
        let by_unit = || {
            let named = |u: &&PassedUnit| {
                let unit = &self.inventory.units[u.shape];
                is_called(&unit.unit, unit.name.as_deref(), written)
            };
            self.way.units.iter().find(named).map(|u| (reached(u), u.certainty))
        };
        by_water.or_else(by_unit)
    }

    fn named(&self, unit: Option<&str>, water: Option<&str>) -> Option<(Reached, Certainty)> {
        unit.and_then(|u| self.unit(u)).map(|u| (reached(u), u.certainty)).or_else(|| water.and_then(|w| self.water(w)))
    }
}

fn reached(unit: &PassedUnit) -> Reached {
    if unit.direct { Reached::Direct } else { Reached::Downstream(unit.distance_m) }
}

/// Direct before watershed before downstream, the nearer first.
fn rank(reached: Reached) -> (u8, u64) {
    match reached {
        Reached::Direct => (0, 0),
        Reached::Watershed => (1, 0),
        Reached::Downstream(m) => (2, crate::trace::micrometres(m)),
    }
}

impl Judge<'_> {
    fn notes(&self) -> Vec<String> {
        let inventory = self.ground.inventory;
        let mut notes = Vec::new();
        let mut say = |is: bool, text: String| {
            if is {
                notes.push(text);
            }
        };
        say(inventory.waters.is_empty(), "no waters are on the map: no outfall's way to water is known".to_owned());
        say(
            inventory.units.is_empty() && !inventory.waters.iter().any(|w| w.unit.is_some()),
            "no assessment units are on the map: nothing is said of any water's standing".to_owned(),
        );
        say(
            inventory.listing.is_empty() && self.standings.by_unit.is_empty(),
            "no listing was given: whether a water is on the 303(d) list is not known".to_owned(),
        );
        say(inventory.tmdls.is_empty(), "no TMDL actions were given: whether a TMDL binds is not known".to_owned());
        say(!inventory.has_role("permit_listing"), "the permit's own list of impaired waters was not given".to_owned());
        say(
            self.settings.programme_date.is_none(),
            "programme_date is not set in headwall.toml: which TMDLs are future ones is not known".to_owned(),
        );
        let missing: BTreeSet<&str> = inventory
            .listing
            .iter()
            .filter(|row| self.standings.by_unit.contains_key(&unit_key(&row.unit)))
            .filter(|row| !inventory.units.iter().any(|u| unit_key(&u.unit) == unit_key(&row.unit)))
            .map(|row| &*row.unit)
            .collect();
        if !missing.is_empty() {
            let some: Vec<&str> = missing.iter().take(10).copied().collect();
            let more = if missing.len() > 10 { format!(" and {} more", missing.len() - 10) } else { String::new() };
            say(
                true,
                format!(
                    "listed, but without a shape on the map, so that no outfall is tied to them and none is cleared: {}{more}",
                    some.join(", ")
                ),
            );
        }
        if let Some(last) = inventory.listing.iter().filter_map(|r| r.cycle).max()
            && i32::from(self.as_of.year()) - last > OLD_YEARS
        {
            say(true, format!("the latest list cycle given is {last}: a newer list may say otherwise"));
        }
        notes
    }

    fn outfall(&self, outfall: StructureIndex) -> OutfallConditions {
        let way = way_down(self.ground, self.waters, self.ground.network.node_of(outfall));
        self.of_way(outfall, way)
    }

    fn of_way(&self, outfall: StructureIndex, way: WayDown) -> OutfallConditions {
        let structure = &self.ground.inventory.structures[outfall.at()];
        let kind = structure.outfall_kind.unwrap_or(OutfallKind::Unknown);
        let mut flags = Vec::new();
        let tmdls = self.tmdls(&way, structure.place);
        self.of_lists(outfall, &way, &tmdls, &mut flags);
        self.of_tmdls(outfall, &way, &tmdls, &mut flags);
        self.of_notices(outfall, &way, &mut flags);
        self.of_permit(outfall, &way, &mut flags);
        for flag in &mut flags {
            flag.concern = flag.pollutant.as_deref().and_then(|p| self.concerns.of_parameter(p)).map(|c| (c.id.clone(), c.permit));
        }
        flags.sort_by(|a, b| {
            a.kind
                .cmp(&b.kind)
                .then(rank(a.reached).cmp(&rank(b.reached)))
                .then(a.water.cmp(&b.water))
                .then(a.pollutant.cmp(&b.pollutant))
                .then(a.basis.cmp(&b.basis))
        });
        flags.dedup();
        let unknown = self.unknown(&way);
        OutfallConditions { outfall, kind, way, flags, unknown }
    }

    fn unknown(&self, way: &WayDown) -> Vec<String> {
        let Ground { inventory, network, .. } = self.ground;
        let mut unknown = Vec::new();
        for hand_over in &way.hand_overs {
            let to = hand_over.to.as_deref().map_or_else(|| "another system".to_owned(), |to| format!("another system ({to})"));
            unknown.push(format!(
                "hands over at {} to {to}: which waters lie beyond is that system's to say",
                inventory.structures[hand_over.structure.at()].key
            ));
        }
        for node in &way.dead_ends {
            unknown.push(format!(
                "the way to water is not known: the conduits end at {} with no water within the receiving distance",
                network.node_name(inventory, *node)
            ));
        }
        if way.is_unknown() && way.hand_overs.is_empty() && way.dead_ends.is_empty() {
            unknown.push("the way to water is not known".to_owned());
        }
        if way.course_unknown {
            unknown.push("the direction of a water is not initialised, so that what lies below it is not known".to_owned());
        }
        if way.limited {
            unknown.push("waters were followed as far as the downstream limit; what lies farther is not in the answer".to_owned());
        }
        for passed in way.waters.iter().filter(|w| w.direct) {
            let water = &inventory.waters[passed.water];
            let assessed = way.units.iter().any(|u| u.direct);
            if !assessed {
                unknown.push(format!(
                    "{} is in no assessment unit on the map: it is not assessed here, which is not the same as clean",
                    water_words(water)
                ));
            }
        }
        for unit in &way.units {
            let own = &inventory.units[unit.shape];
            if !self.standings.assessed.contains(&unit_key(&own.unit)) && !self.standings.by_unit.contains_key(&unit_key(&own.unit)) {
                unknown.push(format!("no list says how {} stands", own.unit));
            }
        }
        unknown
    }

    fn of_lists(&self, outfall: StructureIndex, way: &WayDown, tmdls: &[TmdlRow], flags: &mut Vec<Flag>) {
        let inventory = self.ground.inventory;
        for passed in &way.units {
            let unit = &inventory.units[passed.shape];
            for standing in self.standings.by_unit.get(&unit_key(&unit.unit)).into_iter().flatten() {
                let kind = match standing.kind {
                    StandingKind::Listed => FlagKind::Listed303d,
                    StandingKind::NoTmdlNeeded => FlagKind::NoTmdlNeeded,
                    StandingKind::CategoryUnknown => FlagKind::CategoryUnknown,
                    StandingKind::TmdlNamed if self.has_action(standing, tmdls) => continue,
                    StandingKind::TmdlNamed => FlagKind::TmdlNamedNotFound,
                };
                let reached = reached(passed);
                let follow = match (kind, reached) {
                    (FlagKind::Listed303d, Reached::Direct) => Follow::Duty("no increase of the listed pollutant".to_owned()),
                    (FlagKind::Listed303d, _) => {
                        Follow::Nothing("downstream: information; the duty is that of direct dischargers".to_owned())
                    }
                    (FlagKind::TmdlNamedNotFound, _) => {
                        Follow::Nothing("find the TMDL and whether it has stormwater requirements".to_owned())
                    }
                    (FlagKind::CategoryUnknown, _) => {
                        Follow::Nothing("find the parameter's category; only category 5 is the 303(d) list".to_owned())
                    }
                    _ => Follow::Nothing("information".to_owned()),
                };
                let mut remarks = standing.remarks.clone();
                if let Some(cycle) = standing.cycle
                    && i32::from(self.as_of.year()) - cycle > OLD_YEARS
                {
                    remarks.push(format!("list cycle {cycle} is old: a newer list may say otherwise"));
                }
                if standing.cycle.is_none() {
                    remarks.push("the list's cycle is not known".to_owned());
                }
                let list = inventory.layer_name(standing.layer);
                let category = standing.category.as_ref().map(|c| c.as_str().to_owned());
                let said = category.as_ref().map_or_else(|| "impaired, no category".to_owned(), |c| format!("category {c}"));
                let permit = self.permit_column(&unit.unit, unit.name.as_deref(), standing.pollutant.as_deref());
                flags.push(Flag {
                    outfall,
                    water: unit.unit.clone(),
                    water_name: standing.name.clone().or_else(|| unit.name.clone()),
                    pollutant: standing.pollutant.clone(),
                    kind,
                    reached,
                    category,
                    cycle: standing.cycle,
                    basis: format!("{list}: {said}; receiving water by {}", passed.basis),
                    certainty: passed.certainty,
                    permit,
                    concern: None,
                    follow,
                    remarks,
                });
            }
        }
    }

    /// Whether a TMDL that is named has an action among those tied to the way.
    fn has_action(&self, standing: &Standing, tmdls: &[TmdlRow]) -> bool {
        tmdls.iter().any(|t| {
            let action = &self.ground.inventory.tmdls[t.action];
            let same_water = match (&action.unit, &action.area) {
                (Some(unit), None) => unit_key(unit) == unit_key(&standing.unit),
                _ => true,
            };
            let same_pollutant = match (&action.cause, &standing.pollutant) {
                (Some(a), Some(b)) => self.concerns.alike(a, b),
                _ => true,
            };
            same_water && same_pollutant
        })
    }

    /// The TMDL rows that the way comes to: by the unit or water they name, or by a polygon that holds the discharge.
    fn tmdls(&self, way: &WayDown, outfall: Option<Point>) -> Vec<TmdlRow> {
        let inventory = self.ground.inventory;
        let passed = Passed { way, inventory };
        let mut places: Vec<Point> = way.entries.iter().filter_map(|(_, e)| self.waters.place_of(e.near.spot)).collect();
        places.extend(outfall);
        let unit_m = self.waters.options.map_or(0.0, |o| o.unit_m);
        let mut rows = Vec::new();
        for (at, action) in inventory.tmdls.iter().enumerate() {
            let mut offers: Vec<Reached> =
                passed.named(action.unit.as_deref(), action.water.as_deref()).map(|(r, _)| r).into_iter().collect();
            if let Some(area) = &action.area {
                let nearest_m = places.iter().map(|p| off_area(area, *p)).fold(f64::INFINITY, f64::min);
                match action.extent {
                    Extent::Watershed if nearest_m == 0.0 => offers.push(Reached::Watershed),
                    Extent::Water if nearest_m <= unit_m => offers.push(Reached::Direct),
                    Extent::Water => offers.extend(self.downstream_of(way, area)),
                    Extent::Watershed => {}
                }
            }
            if let Some(reached) = offers.into_iter().min_by_key(|r| rank(*r)) {
                rows.push(TmdlRow { action: at, reached });
            }
        }
        rows
    }

    /// Where the way runs into an area farther down.
    fn downstream_of(&self, way: &WayDown, area: &geo::MultiPolygon) -> Option<Reached> {
        let within = |r: &&super::way::PassedReach| {
            let line = &self.waters.reach(r.reach).line;
            line.0.last().is_some_and(|c| off_area(area, Point::from(*c)) == 0.0)
        };
        let first = way.reaches.iter().filter(within).min_by(|a, b| a.distance_m.total_cmp(&b.distance_m))?;
        Some(Reached::Downstream(first.distance_m + self.waters.reach(first.reach).length_m - first.from_m))
    }

    fn of_tmdls(&self, outfall: StructureIndex, way: &WayDown, tmdls: &[TmdlRow], flags: &mut Vec<Flag>) {
        let inventory = self.ground.inventory;
        let certainty = way.entries.iter().map(|(_, e)| super::course::certainty_of(e.basis)).max().unwrap_or(Certainty::Possible);
        for row in tmdls {
            let action = &inventory.tmdls[row.action];
            let name = action.name.clone().unwrap_or_else(|| action.key.plain_id().into());
            let water: Arc<str> = action.unit.clone().or_else(|| action.water.clone()).unwrap_or_else(|| name.clone());
            let own = action.unit.as_deref().and_then(|u| inventory.units.iter().find(|s| unit_key(&s.unit) == unit_key(u)));
            let water_name = own.and_then(|u| u.name.clone()).or_else(|| action.water.clone());
            let tie = match row.reached {
                Reached::Watershed => "the discharge lies in its watershed polygon",
                Reached::Direct => "it discharges into its water",
                Reached::Downstream(_) => "its water lies downstream",
            };
            let approved = action.approved_on.map_or_else(|| "approval date not given".to_owned(), |d| format!("approved {d}"));
            let permit = self.permit_column(&water, water_name.as_deref(), action.cause.as_deref());
            let flag = |kind: FlagKind, follow: Follow, remarks: Vec<String>| Flag {
                outfall,
                water: water.clone(),
                water_name: water_name.clone(),
                pollutant: action.cause.clone(),
                kind,
                reached: row.reached,
                category: None,
                cycle: None,
                basis: format!("TMDL {name} ({}), {approved}: {tie}", action.key.plain_id()),
                certainty,
                permit,
                concern: None,
                follow,
                remarks,
            };
            flags.push(match action.stormwater_requirement {
                Some(true) if matches!(row.reached, Reached::Downstream(_)) => flag(
                    FlagKind::Tmdl,
                    Follow::Nothing("downstream: information; no watershed polygon says that it binds here".to_owned()),
                    Vec::new(),
                ),
                Some(true) => flag(FlagKind::Tmdl, Follow::Duty("follow the strategy of the TMDL".to_owned()), Vec::new()),
                Some(false) => {
                    flag(FlagKind::TmdlWithoutRequirement, Follow::Nothing("it has no stormwater requirement".to_owned()), Vec::new())
                }
                None => flag(
                    FlagKind::TmdlRequirementNotEstablished,
                    Follow::Nothing("find whether it has a stormwater requirement".to_owned()),
                    Vec::new(),
                ),
            });
            if let Some((follow, remarks)) = self.future(action) {
                flags.push(flag(FlagKind::FutureTmdl, follow, remarks));
            }
        }
    }

    /// What follows from a TMDL that was approved after the programme began.
    fn future(&self, action: &TmdlAction) -> Option<(Follow, Vec<String>)> {
        let begun = self.settings.programme_date.as_ref()?;
        let approved = action.approved_on.filter(|d| *d > begun.date)?;
        let remarks = vec![format!("programme date {} ({})", begun.date, begun.source)];
        if action.allocations_met == Some(true) {
            return Some((Follow::Nothing("its allocations are met: nothing is owed".to_owned()), remarks));
        }
        let Some(due) = six_months_after(approved) else {
            return Some((Follow::Duty("review it; six months from approval is no date that can be reckoned".to_owned()), remarks));
        };
        let follow = match action.reviewed_on {
            Some(on) if action.allocations_met == Some(false) => {
                Follow::Due(due, format!("reviewed {on}: its allocations are not met, so the programme is to be modified by {due}"))
            }
            Some(on) => Follow::Due(
                due,
                format!("reviewed {on}; whether its allocations are met is not recorded; six months from approval end on {due}"),
            ),
            None if self.as_of > due => {
                Follow::OutcomeNotRecorded(due, format!("six months from approval ended on {due}: outcome not recorded"))
            }
            None => Follow::Due(due, format!("review it; where its allocations are not met, the programme is to be modified by {due}")),
        };
        Some((follow, remarks))
    }

    fn of_notices(&self, outfall: StructureIndex, way: &WayDown, flags: &mut Vec<Flag>) {
        let inventory = self.ground.inventory;
        let passed = Passed { way, inventory };
        for notice in &inventory.notices {
            let Some((reached, certainty)) = passed.named(notice.unit.as_deref(), notice.water.as_deref()) else { continue };
            let water = notice.unit.clone().or_else(|| notice.water.clone()).unwrap_or_else(|| notice.key.plain_id().into());
            let standard = notice.standard.as_deref().map_or_else(String::new, |s| format!(", standard {s}"));
            let date = notice.date.map_or_else(|| "date not given".to_owned(), |d| format!("of {d}"));
            let follow = match reached {
                Reached::Direct => Follow::Duty("take all necessary actions so that future discharges do not cause it".to_owned()),
                _ => Follow::Nothing("downstream: information".to_owned()),
            };
            flags.push(Flag {
                outfall,
                permit: self.permit_column(&water, notice.water.as_deref(), notice.cause.as_deref()),
                water,
                water_name: notice.water.clone(),
                pollutant: notice.cause.clone(),
                kind: FlagKind::WaterQualityStandards,
                reached,
                category: None,
                cycle: None,
                basis: format!("notice {} {date}{standard}", notice.key.plain_id()),
                certainty,
                concern: None,
                follow,
                remarks: Vec::new(),
            });
        }
    }

    /// Rows of the permit's list that no 303(d) row stands beside.
    fn of_permit(&self, outfall: StructureIndex, way: &WayDown, flags: &mut Vec<Flag>) {
        let inventory = self.ground.inventory;
        let passed = Passed { way, inventory };
        let mut own = Vec::new();
        for row in &inventory.permit_listing {
            let Some((reached, certainty)) = passed.named(row.unit.as_deref(), row.water.as_deref()) else { continue };
            let water = row.unit.clone().or_else(|| row.water.clone()).unwrap_or_else(|| row.key.plain_id().into());
            let listed = flags.iter().any(|f| {
                f.kind == FlagKind::Listed303d
                    && self.same_water(row.unit.as_deref(), row.water.as_deref(), &f.water, f.water_name.as_deref())
                    && self.same_pollutant(row.cause.as_deref(), f.pollutant.as_deref())
            });
            if listed {
                continue;
            }
            let permit = row.permit.as_deref().unwrap_or("the permit");
            let appendix = row.appendix.as_deref().map_or_else(String::new, |a| format!(", {a}"));
            let date = row.date.map_or_else(String::new, |d| format!(", {d}"));
            own.push(Flag {
                outfall,
                water,
                water_name: row.water.clone(),
                pollutant: row.cause.clone(),
                kind: FlagKind::PermitListOnly,
                reached,
                category: None,
                cycle: None,
                basis: format!("{permit}{appendix}{date}"),
                certainty,
                permit: PermitColumn::PermitOnly,
                concern: None,
                follow: Follow::Duty("what the permit asks for waters of its own list".to_owned()),
                remarks: Vec::new(),
            });
        }
        flags.extend(own);
    }

    fn same_water(&self, unit: Option<&str>, water: Option<&str>, id: &str, name: Option<&str>) -> bool {
        unit.is_some_and(|u| unit_key(u) == unit_key(id)) || water.is_some_and(|w| is_called(id, name, w))
    }

    fn same_pollutant(&self, a: Option<&str>, b: Option<&str>) -> bool {
        match (a, b) {
            (Some(a), Some(b)) => self.concerns.alike(a, b),
            _ => true,
        }
    }

    fn permit_column(&self, unit: &str, name: Option<&str>, pollutant: Option<&str>) -> PermitColumn {
        let inventory = self.ground.inventory;
        if !inventory.has_role("permit_listing") {
            return PermitColumn::NotGiven;
        }
        let permit = inventory.permit_listing.iter().any(|row| {
            self.same_water(row.unit.as_deref(), row.water.as_deref(), unit, name) && self.same_pollutant(row.cause.as_deref(), pollutant)
        });
        let listed = self.standings.by_unit.get(&unit_key(unit)).into_iter().flatten().any(|s| {
            s.kind == StandingKind::Listed
                && s.pollutant.as_deref().map(pollutant_key).is_none_or(|own| pollutant.is_none_or(|p| self.concerns.alike(&own, p)))
        });
        match (permit, listed) {
            (true, true) => PermitColumn::Both,
            (true, false) => PermitColumn::PermitOnly,
            (false, true) => PermitColumn::ListOnly,
            (false, false) => PermitColumn::Neither,
        }
    }
}

/// A water in words.
pub(super) fn water_words(water: &crate::inventory::Water) -> String {
    water.name.as_deref().map_or_else(|| water.key.to_string(), |name| format!("{name} ({})", water.key))
}
