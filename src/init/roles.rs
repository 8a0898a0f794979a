//! What does a layer hold? By a published schema, by the words of its name, by what is drawn and by what its columns say.

use crate::settings::Role;

use super::look::{Drawn, Look};
use super::presets::Fit;
use super::words::{read_codes, roles_named};

/// What was decided, and why.
pub(super) enum Decided {
    /// This role.
    Role(Role, String),
    /// Nothing that Headwall uses.
    Unused(String),
    /// One of these: somebody has to say which.
    Ask(Vec<Role>, String),
}

fn can_be(drawn: Drawn) -> &'static [Role] {
    match drawn {
        Drawn::Points => &[
            Role::Structures,
            Role::Outfalls,
            Role::Addresses,
            Role::Ponds,
            Role::Businesses,
            Role::Permits,
            Role::SepticSystems,
            Role::MunicipalFacilities,
        ],
        Drawn::Lines => &[Role::Conduits, Role::SanitaryMains, Role::WaterMains, Role::Laterals, Role::Streets, Role::Watercourses],
        Drawn::Areas => &[
            Role::InletAreas,
            Role::Catchments,
            Role::Parcels,
            Role::Watercourses,
            Role::Waterbodies,
            Role::Ponds,
            Role::Buildings,
            Role::Boundary,
            Role::MunicipalFacilities,
            Role::AssessmentUnits,
        ],
        Drawn::Nothing => &[],
    }
}

/// Decides.
pub(super) fn decide(look: &Look, fit: Option<&Fit>) -> Decided {
    if look.drawn == Drawn::Nothing {
        return match fit {
            Some(fit) => Decided::Role(fit.role, format!("a table after {}", fit.schema)),
            None if look.columns.iter().any(|c| c.says.has("x")) && look.columns.iter().any(|c| c.says.has("y")) => Decided::Ask(
                vec![Role::Businesses, Role::Permits, Role::SepticSystems, Role::Addresses],
                "a table with coordinates, in a CRS that it does not say".to_owned(),
            ),
            None => Decided::Unused("a table without places; nothing says what its rows belong to".to_owned()),
        };
    }
    let allowed = can_be(look.drawn);
    let layer = look.inside.clone().unwrap_or_else(|| look.raw.name.clone());
    let mut named = roles_named(&layer);
    if named.is_empty() {
        named = roles_named(&super::stem(&look.path));
    }
    if named.first().is_some_and(|(role, _)| role.is_none()) {
        return Decided::Unused(format!("its name says \"{}\"", named[0].1));
    }
    let mut fitting = named.into_iter().filter_map(|(role, word)| role.filter(|r| allowed.contains(r)).map(|r| (r, word)));
    let by_name = fitting.next();
    if let Some(fit) = fit
        && (!matches!(fit.role, Role::Structures) || by_name.is_none())
    {
        // A schema's layer of lines may still be the sanitary one.
        if !matches!(by_name, Some((Role::SanitaryMains, _))) {
            return Decided::Role(fit.role, format!("it has the fields of {}", fit.schema));
        }
    }
    match by_name {
        Some((Role::SanitaryMains, word)) => {
            let carried = storm_share(look);
            let own: String = layer.to_lowercase();
            if carried.as_ref().is_some_and(|(_, storm)| *storm >= 0.2)
                || (carried.is_none() && (own.contains("storm") || own.contains("combined")))
            {
                let why = carried.map_or_else(
                    || "its name says storm or combined".to_owned(),
                    |(field, share)| format!("{:.0} % of its lines are storm or combined by {field}", share * 100.0),
                );
                return Decided::Role(Role::Conduits, why);
            }
            // "Sewer" is said of storm sewers, too.
            if carried.is_none() && word == "sewer" {
                return Decided::Ask(
                    vec![Role::Conduits, Role::SanitaryMains],
                    "\"sewer\" may be storm or sanitary, and no field says which".to_owned(),
                );
            }
            Decided::Role(Role::SanitaryMains, format!("its name says \"{word}\""))
        }
        Some((role, word)) => Decided::Role(role, format!("its name says \"{word}\"")),
        None => by_columns(look),
    }
}

/// The share of lines that are storm or combined, by the first field that reads as a system.
fn storm_share(look: &Look) -> Option<(String, f64)> {
    look.columns.iter().filter(|c| c.texts.len() <= 12 && c.says.has("system")).find_map(|c| {
        let reading = read_codes("system", &c.texts);
        if (reading.read + reading.said_unknown) * 10 < c.filled * 8 || c.filled == 0 {
            return None;
        }
        let count = |word: &str| reading.codes.get(word).into_iter().flatten().filter_map(|t| c.texts.get(t)).sum::<usize>();
        Some((c.name.clone(), (count("storm") + count("combined")) as f64 / c.filled as f64))
    })
}

/// A name that says nothing: what the columns say is a proposal only where it is plain.
fn by_columns(look: &Look) -> Decided {
    let has = |notions: &[&str]| look.columns.iter().any(|c| notions.iter().all(|n| c.says.has(n)) && c.filled > 0);
    match look.drawn {
        Drawn::Lines if has(&["diameter"]) && (has(&["upstream"]) || has(&["invert"])) => {
            Decided::Role(Role::Conduits, "lines with a diameter and something at two ends".to_owned())
        }
        Drawn::Points if has(&["rim"]) || has(&["invert"]) => Decided::Role(Role::Structures, "points with a rim or an invert".to_owned()),
        Drawn::Areas if look.columns.iter().any(|c| c.says.has("parcel") && c.distinct() > 0.9) && has(&["address"]) => {
            Decided::Role(Role::Parcels, "areas with a parcel number and an address".to_owned())
        }
        drawn => Decided::Ask(can_be(drawn).to_vec(), "neither its name nor its fields say what it holds".to_owned()),
    }
}
