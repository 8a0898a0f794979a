//! Which two fields speak of a conduit's two ends? Pairs by name, then what the values say: levels that fall, ids that resolve where the line ends.

use std::collections::{BTreeMap, BTreeSet};

use geo::Coord;

use super::column::{Column, quantile, share};
use super::look::{Drawn, Look, distance};
use super::words::Name;

/// How two names belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Twin {
    /// Alike but for up and down.
    Named,
    /// Up and down, and the rest cut off or different.
    Cut,
    /// Alike but for a number: which end is which stands nowhere.
    Numbered,
    /// One name has a direction, the other none.
    OneSided,
    /// In and out: of the pipe or of the manhole stands nowhere.
    InOut,
}

/// Two columns that may speak of the two ends; `from` is the upper one by its name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub from: usize,
    pub to: usize,
    pub twin: Twin,
}

const UP_DOWN: [&str; 2] = ["upstream", "downstream"];

fn is_up(c: &Column) -> bool {
    // In "Us_End_Id" the end is no direction.
    let other_than_end = c.says.words.iter().any(|w| w != "end" && Name::new(w).has("downstream"));
    c.says.has("upstream") && !other_than_end
}

fn is_down(c: &Column) -> bool {
    c.says.has("downstream") && !c.says.has("upstream")
}

fn says_word(c: &Column, word: &str) -> bool {
    c.says.words.iter().any(|w| w == word)
}

fn same_but(a: &Column, b: &Column, words_a: &[&str], words_b: &[&str]) -> bool {
    let strip =
        |c: &Column, words: &[&str]| -> Vec<String> { c.says.words.iter().filter(|w| !words.contains(&w.as_str())).cloned().collect() };
    let (left, right) = (strip(a, words_a), strip(b, words_b));
    left == right && left.len() + 1 == a.says.words.len()
}

/// Every pair of columns whose names speak of two ends.
pub(super) fn pairs(columns: &[Column]) -> Vec<Pair> {
    let mut found = Vec::new();
    for (from, up) in columns.iter().enumerate() {
        for (to, down) in columns.iter().enumerate() {
            if from == to || up.filled == 0 || down.filled == 0 {
                continue;
            }
            let twin = if is_up(up) && is_down(down) {
                if up.says.without(&UP_DOWN) == down.says.without(&UP_DOWN) {
                    Some(Twin::Named)
                } else if up.says.may_be_cut || down.says.may_be_cut {
                    Some(Twin::Cut)
                } else {
                    None
                }
            } else if is_down(down) && says_word(up, "st") && same_but(up, down, &["st"], &["end"]) {
                Some(Twin::Named)
            } else if is_down(down) && !is_up(up) && up.says.words == down.says.without(&UP_DOWN) {
                Some(Twin::OneSided)
            } else if says_word(up, "in") && says_word(down, "out") && same_but(up, down, &["in"], &["out"]) {
                Some(Twin::InOut)
            } else if (same_but(up, down, &["1"], &["2"]) || [up.name.as_str(), "2"].concat() == down.name) && !is_up(up) && !is_down(up) {
                Some(Twin::Numbered)
            } else {
                None
            };
            if let Some(twin) = twin {
                found.push(Pair { from, to, twin });
            }
        }
    }
    found
}

/// The two inverts, with what was measured.
#[derive(Clone, Debug)]
pub(super) struct Levels {
    pub pair: Pair,
    pub missing: Vec<String>,
    pub note: Option<String>,
    /// Conduits with both levels and a fall or rise.
    pub checked: usize,
    /// Of these the ones that rise from the upper end by name to the lower.
    pub uphill: usize,
}

/// What the search for inverts found.
#[derive(Clone, Debug)]
pub(super) enum LevelsFound {
    /// These two.
    Sure(Levels),
    /// These may be, and this is why it is not sure.
    Doubtful(Vec<Levels>, String),
    /// No pair of levels.
    None,
}

fn can_be_level(c: &Column) -> bool {
    const NOT: [&str; 14] = [
        "length",
        "slope",
        "diameter",
        "size",
        "width",
        "height",
        "depth",
        "street",
        "percent",
        "angle",
        "count",
        "edit",
        "outfall",
        "address_link",
    ];
    c.numeric() >= 0.8 && !c.is_date && c.texts.len() >= 5 && c.has_fractions && !c.says.has_any(&NOT)
}

fn name_weight(columns: &[Column], pair: Pair) -> f64 {
    let both = |notion: &str| columns[pair.from].says.has(notion) && columns[pair.to].says.has(notion);
    if both("rim") || both("ground") {
        0.0
    } else if both("invert") {
        3.0
    } else if both("elevation") {
        2.0
    } else if pair.twin == Twin::Cut {
        1.0
    } else {
        0.5
    }
}

/// Looks for the inverts at the two ends.
pub(super) fn levels(look: &Look, pairs: &[Pair]) -> LevelsFound {
    let columns = &look.columns;
    let mut found: Vec<(f64, f64, Levels)> = Vec::new();
    for &pair in pairs {
        let (up, down) = (&columns[pair.from], &columns[pair.to]);
        if !can_be_level(up) || !can_be_level(down) || pair.twin == Twin::Numbered {
            continue;
        }
        let weight = name_weight(columns, pair);
        if weight == 0.0 {
            continue;
        }
        let (mut missing, note) = up.missing_numbers(false);
        let (more, note_down) = down.missing_numbers(false);
        missing.extend(more);
        missing.sort();
        missing.dedup();
        let mut differences = Vec::new();
        for row in 0..look.raw.features.len() {
            if let (Some(u), Some(d)) = (up.number(&look.raw, row, &missing), down.number(&look.raw, row, &missing)) {
                differences.push(u - d);
            }
        }
        let near = differences.iter().filter(|d| d.abs() <= 40.0).count();
        if differences.len() < 3 || share(near, differences.len()) < 0.8 {
            continue;
        }
        let uphill = differences.iter().filter(|d| **d < -0.005).count();
        let checked = differences.iter().filter(|d| d.abs() > 0.005).count();
        let middle = {
            // Of two twins that were cut the likelier is the one whose values stay close.
            let mut all: Vec<f64> = differences.iter().map(|d| d.abs()).collect();
            all.sort_by(f64::total_cmp);
            quantile(&all, 0.5)
        };
        let filled = share(differences.len(), look.raw.features.len());
        found.push((weight + filled, -middle, Levels { pair, missing, note: note.or(note_down), checked, uphill }));
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)));
    let Some((best_score, _, best)) = found.first().cloned() else { return LevelsFound::None };
    let all = || found.iter().map(|(_, _, l)| l.clone()).take(4).collect::<Vec<_>>();
    match best.pair.twin {
        Twin::InOut => {
            let text = format!(
                "in and out may be the pipe's or the manhole's; read as upper and lower end, {} of {} rise",
                best.uphill, best.checked
            );
            return LevelsFound::Doubtful(all(), text);
        }
        Twin::OneSided => return LevelsFound::Doubtful(all(), "only one of the two names says which end it is".to_owned()),
        _ => {}
    }
    if best.checked >= 10 && share(best.uphill, best.checked) > 0.35 {
        let text = format!("read as the names say, {} of {} conduits would rise", best.uphill, best.checked);
        return LevelsFound::Doubtful(all(), text);
    }
    if best.checked < 10 && best.uphill > best.checked / 2 {
        return LevelsFound::Doubtful(all(), format!("too few conduits have both to be sure ({} with a fall or rise)", best.checked));
    }
    // A second pair of the same rank that says something else makes both doubtful.
    let rival = found.iter().skip(1).find(|(score, _, l)| {
        best_score - score < 0.3
            && l.pair.from != best.pair.from
            && l.pair.to != best.pair.to
            && !same_values(look, best.pair.from, l.pair.from)
    });
    if let Some((_, _, rival)) = rival {
        let text = format!("{} and {} both look like levels and differ", columns[best.pair.from].name, columns[rival.pair.from].name);
        return LevelsFound::Doubtful(all(), text);
    }
    LevelsFound::Sure(best)
}

fn same_values(look: &Look, a: usize, b: usize) -> bool {
    let (a, b) = (&look.columns[a], &look.columns[b]);
    let (mut both, mut same) = (0, 0);
    for row in 0..look.raw.features.len() {
        if let (Some(x), Some(y)) = (a.number(&look.raw, row, &[]), b.number(&look.raw, row, &[])) {
            both += 1;
            same += usize::from((x - y).abs() < 0.01);
        }
    }
    share(same, both) > 0.9
}

/// The two node ids, with what was measured.
#[derive(Clone, Debug)]
pub(super) struct Nodes {
    pub pair: Pair,
    pub missing_from: Vec<String>,
    pub missing_to: Vec<String>,
    /// Ends with an id.
    pub ends: usize,
    /// Ends whose id is found in a structure layer.
    pub resolved: usize,
    /// Ends whose structure lies at one of the two ends (20 m).
    pub near: usize,
    /// Ends whose structure has a place.
    pub located: usize,
    /// Conduits whose from-node lies nearer to the first vertex, of those where it can be told.
    pub with_drawing: usize,
    /// Conduits where it can be told.
    pub told: usize,
    /// Conduits whose from-node has the higher level, of those whose nodes both have one.
    pub falls: usize,
    /// Conduits whose nodes both have a level, and not the same.
    pub fall_told: usize,
    /// Ends whose id is the id of another conduit of the layer.
    pub among_conduits: usize,
    /// The columns in which the ids were found: layer and column, with hits.
    pub found_in: Vec<(usize, String, usize)>,
}

/// What the search for node ids found.
#[derive(Clone, Debug)]
pub(super) enum NodesFound {
    /// These two.
    Sure(Nodes),
    /// These may be, and this is why it is not sure.
    Doubtful(Vec<Nodes>, String),
    /// No pair of ids.
    None,
}

fn can_be_node(c: &Column) -> bool {
    const NOT: [&str; 9] = ["street", "date", "length", "slope", "diameter", "size", "material", "edit", "percent"];
    let levels = c.says.has_any(&["elevation", "invert", "rim", "ground"]) && !c.says.has_any(&["node", "id"]);
    c.is_id_like() && !levels && !c.says.has_any(&NOT) && c.texts.len() >= 3 && c.distinct() >= 0.15
}

/// How close a structure has to lie to an end to be its node, when field names are judged.
const NEAR_M: f64 = 20.0;

/// Looks for the ids of the nodes at the two ends; structures are looked for in every layer of points.
pub(super) fn nodes(looks: &[Look], at: usize, pairs: &[Pair]) -> NodesFound {
    let look = &looks[at];
    let paired: BTreeSet<usize> = pairs.iter().flat_map(|p| [p.from, p.to]).collect();
    let mut found: Vec<Nodes> = Vec::new();
    for &pair in pairs {
        if pair.twin != Twin::InOut && can_be_node(&look.columns[pair.from]) && can_be_node(&look.columns[pair.to]) {
            found.push(measure(looks, at, pair, &paired));
        }
    }
    let rank = |n: &Nodes| (share(n.resolved, n.ends) * n.ends as f64).max(n.among_conduits as f64 / 4.0);
    found.sort_by(|a, b| rank(b).total_cmp(&rank(a)).then(a.pair.twin.cmp(&b.pair.twin)).then(b.ends.cmp(&a.ends)));
    let Some(best) = found.first().cloned() else { return NodesFound::None };
    let rows = 2 * look.raw.features.len();
    let doubt = |why: String| NodesFound::Doubtful(found.iter().take(4).cloned().collect(), why);
    // Small whole numbers meet by chance, and texts do not.
    let by_chance = look.columns[best.pair.from].numeric() > 0.9;
    let mixed = !by_chance && share(best.resolved, best.ends) < 0.75 && share(best.among_conduits, best.ends) > 0.05;
    if mixed || (share(best.among_conduits, best.ends) > 0.3 && best.among_conduits > best.resolved) {
        return doubt(format!(
            "of {} ids {} are found among structures and {} among the conduits of this layer, so they do not name structures alone",
            best.ends, best.resolved, best.among_conduits
        ));
    }
    let has_structures = looks.iter().any(|l| l.drawn == Drawn::Points);
    if share(best.resolved, best.ends) < 0.5 {
        let why = if has_structures {
            format!("only {} of {} ids are found in a layer of structures", best.resolved, best.ends)
        } else {
            "no layer of structures is here in which the ids could be found".to_owned()
        };
        return doubt(why);
    }
    if share(best.ends, rows) < 0.3 {
        return doubt(format!("only {} of {rows} ends have an id", best.ends));
    }
    if best.located > 0 && share(best.near, best.located) < 0.7 {
        return doubt(format!("only {} of {} structures so named lie at an end of their conduit", best.near, best.located));
    }
    let agree = share(best.with_drawing, best.told);
    let enough = if best.pair.twin == Twin::Numbered || best.pair.twin == Twin::OneSided { 0.9 } else { 0.6 };
    // Lines drawn at random say nothing about ids that name the higher structure first.
    let falls = best.fall_told >= 20 && share(best.falls, best.fall_told) > 0.8 && best.pair.twin == Twin::Named;
    if best.told > 0 && agree < enough && !falls {
        return doubt(format!("from and to agree with the drawing in only {} of {}", best.with_drawing, best.told));
    }
    if best.told == 0 && best.pair.twin != Twin::Named {
        return doubt("nothing says which of the two is the upper end".to_owned());
    }
    NodesFound::Sure(best)
}

fn measure(looks: &[Look], at: usize, pair: Pair, paired: &BTreeSet<usize>) -> Nodes {
    let look = &looks[at];
    let (up, down) = (&look.columns[pair.from], &look.columns[pair.to]);
    let rows = look.raw.features.len();
    let wanted: BTreeSet<String> = (0..rows).flat_map(|r| [up.id(&look.raw, r), down.id(&look.raw, r)]).flatten().collect();
    // In each layer of points the column that holds most of the wanted ids.
    let mut places: BTreeMap<String, Vec<Option<Coord>>> = BTreeMap::new();
    let mut heights: BTreeMap<String, f64> = BTreeMap::new();
    let mut found_in = Vec::new();
    for (index, other) in looks.iter().enumerate().filter(|(_, l)| l.drawn == Drawn::Points) {
        let mut best: Option<(usize, usize)> = None;
        for (c, column) in other.columns.iter().enumerate() {
            if column.is_software() || !column.is_id_like() || column.texts.len() * 10 < column.filled * 9 {
                continue;
            }
            let hits = column.texts.keys().filter(|t| wanted.contains(crate::inventory::normalised_id(t))).count();
            // Of two columns with nearly the same ids the fuller one is the id; names like one decide the rest.
            if hits > 0 && best.is_none_or(|(_, most)| hits > most) {
                best = Some((c, hits));
            }
        }
        let Some((c, hits)) = best else { continue };
        if hits * 20 < other.raw.features.len().min(wanted.len()) {
            continue;
        }
        let column = &other.columns[c];
        found_in.push((index, column.name.clone(), hits));
        let level = other.columns.iter().find(|c| {
            c.says.has("invert")
                && !c.says.has_any(&["compass", "depth", "type"])
                && c.numeric() > 0.8
                && c.has_fractions
                && c.texts.len() > 5
        });
        let missing = level.map(|l| l.missing_numbers(false).0).unwrap_or_default();
        for row in 0..other.raw.features.len() {
            if let Some(id) = column.id(&other.raw, row).filter(|id| wanted.contains(id)) {
                if let Some(number) = level.and_then(|l| l.number(&other.raw, row, &missing)) {
                    heights.insert(id.clone(), number);
                }
                places.entry(id).or_default().push(other.places.get(row).copied().flatten());
            }
        }
    }
    let known = |id: &str| places.contains_key(id);
    let (missing_from, missing_to) = (up.missing_ids(known), down.missing_ids(known));
    let own: Vec<BTreeSet<String>> = look
        .columns
        .iter()
        .enumerate()
        .filter(|(c, col)| !paired.contains(c) && !col.is_software() && col.is_id_like() && col.distinct() > 0.9 && col.filled > 2)
        .filter(|(_, col)| !col.says.has_any(&UP_DOWN))
        .map(|(_, col)| col.texts.keys().map(|t| crate::inventory::normalised_id(t).to_owned()).collect())
        .collect();
    let mut nodes = Nodes {
        pair,
        missing_from,
        missing_to,
        ends: 0,
        resolved: 0,
        near: 0,
        located: 0,
        with_drawing: 0,
        told: 0,
        falls: 0,
        fall_told: 0,
        among_conduits: 0,
        found_in,
    };
    let mut among = vec![0usize; own.len()];
    for row in 0..rows {
        let line = look.lines.get(row).copied().flatten();
        let mut sides = [None, None];
        for (side, column) in [up, down].into_iter().enumerate() {
            let missing = if side == 0 { &nodes.missing_from } else { &nodes.missing_to };
            let Some(id) = column.id(&look.raw, row).filter(|id| !missing.iter().any(|m| crate::inventory::normalised_id(m) == id)) else {
                continue;
            };
            nodes.ends += 1;
            for (count, ids) in among.iter_mut().zip(&own) {
                *count += usize::from(ids.contains(&id));
            }
            let Some(all) = places.get(&id) else { continue };
            nodes.resolved += 1;
            let (Some(line), [Some(place)]) = (line, all.as_slice()) else { continue };
            nodes.located += 1;
            let (first, last) = (distance(*place, line.first), distance(*place, line.last));
            if first.min(last) <= NEAR_M {
                nodes.near += 1;
                if (first - last).abs() > 0.5 {
                    sides[side] = Some(first < last);
                }
            }
        }
        let height = |column: &Column| column.id(&look.raw, row).and_then(|id| heights.get(&id).copied());
        if let (Some(upper), Some(lower)) = (height(up), height(down))
            && (upper - lower).abs() > 0.005
        {
            nodes.fall_told += 1;
            nodes.falls += usize::from(upper > lower);
        }
        // The from-node near the first vertex, or the to-node near the last.
        let says = match sides {
            [Some(from_first), _] => Some(from_first),
            [None, Some(to_first)] => Some(!to_first),
            _ => None,
        };
        if let Some(with) = says {
            nodes.told += 1;
            nodes.with_drawing += usize::from(with);
        }
    }
    nodes.among_conduits = among.into_iter().max().unwrap_or(0);
    nodes
}
