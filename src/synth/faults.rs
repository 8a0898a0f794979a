//! Which faults do the made-up maps have, as real ones do? A few of each sort, all written down.
//!
//! Nothing here touches the avenue of the sample report but one abandoned pipe beside it.

use super::drains::{Fault, Pipe, VILLAGE};
use super::ground::{Map, hundredths};
use super::random::Chance;

/// The sewer layer's name in headwall.toml, for the fault list.
const LINES: &str = "storm_lines";

/// Takes faults from a run of candidate pipes, each pipe once.
struct Picker {
    order: Vec<usize>,
}

impl Picker {
    fn new(pipes: &[Pipe], chance: &mut Chance, fit: impl Fn(&Pipe) -> bool) -> Self {
        let mut order: Vec<usize> = (0..pipes.len()).filter(|at| pipes.get(*at).is_some_and(&fit)).collect();
        for at in (1..order.len()).rev() {
            order.swap(at, chance.below(at + 1));
        }
        Picker { order }
    }

    fn take<'a>(&mut self, pipes: &'a mut [Pipe]) -> Option<&'a mut Pipe> {
        self.order.pop().and_then(|at| pipes.get_mut(at))
    }
}

/// In the streets that drain to the sample outfall, or to the diversion above it.
fn in_story(id: &str) -> bool {
    ["MH-05", "MH-06", "OF-04", "OF-05"].iter().any(|start| id.starts_with(start))
}

/// Puts the faults into the sewer layer.
pub(super) fn add(pipes: &mut Vec<Pipe>, seed: u64) -> Vec<Fault> {
    let mut chance = Chance::new(seed, 51);
    let mut faults = Vec::new();
    let mains = |p: &Pipe| {
        p.kind == "MAIN" && p.system == "ST" && p.owner == VILLAGE && !in_story(&p.from) && !in_story(&p.to) && p.to.starts_with("MH")
    };
    let mut main = Picker::new(pipes, &mut chance, mains);
    let mut lead = Picker::new(pipes, &mut chance, |p| p.kind == "LEAD" && p.to.starts_with("MH") && !in_story(&p.to));
    let mut note = |id: &str, fault: &'static str, detail: String| faults.push(Fault { layer: LINES, id: id.to_owned(), fault, detail });

    for _ in 0..14 {
        let Some(pipe) = lead.take(pipes) else { break };
        let gap = hundredths(chance.between(0.2, 0.8));
        pull_back(pipe, gap);
        pipe.to.clear();
        note(&pipe.id, "end misses its manhole", format!("{gap} ft short, no node id; within the snap tolerance"));
    }
    for _ in 0..40 {
        let Some(pipe) = lead.take(pipes) else { break };
        pipe.to.clear();
        note(&pipe.id, "node id missing", "the drawn end meets the manhole".to_owned());
    }
    if let Some(pipe) = lead.take(pipes) {
        pull_back(pipe, 4.0);
        pipe.to.clear();
        note(&pipe.id, "gap of 4 ft", "no node id; reported as a near miss, not joined".to_owned());
    }
    for _ in 0..3 {
        let Some(pipe) = main.take(pipes) else { break };
        for part in &mut pipe.parts {
            part.reverse();
        }
        note(&pipe.id, "drawn backwards", "the node ids are right".to_owned());
    }
    for _ in 0..4 {
        let Some(pipe) = main.take(pipes) else { break };
        std::mem::swap(&mut pipe.invert_from, &mut pipe.invert_to);
        note(&pipe.id, "adverse inverts", "the two inverts have changed places".to_owned());
    }
    for (count, marker) in [(12, 0.0), (9, -9999.0)] {
        for _ in 0..count {
            let Some(pipe) = main.take(pipes) else { break };
            pipe.invert_from = marker;
            note(&pipe.id, "invert missing", format!("{marker} stands for no value"));
        }
    }
    if let Some(pipe) = main.take(pipes) {
        let right = std::mem::take(&mut pipe.to);
        pipe.to = right.replacen('0', "O", 1);
        note(&pipe.id, "node id with a typing error", format!("{} for {right}", pipe.to));
    }
    for _ in 0..3 {
        let Some(pipe) = lead.take(pipes) else { break };
        pipe.status = "";
        note(&pipe.id, "status blank", "taken as in use by the town file".to_owned());
    }
    if let Some(pipe) = lead.take(pipes) {
        pipe.status = "TBD";
        note(&pipe.id, "status code unknown", "TBD is explained nowhere".to_owned());
    }
    if let Some(pipe) = main.take(pipes)
        && let Some(&[a, b]) = pipe.parts.first().map(Vec::as_slice)
    {
        let middle = halfway(a, b);
        pipe.parts = vec![vec![a, middle], vec![middle, b]];
        note(&pipe.id, "multi-part line", "two parts that meet".to_owned());
    }
    let copy = lead.take(pipes).map(|pipe| {
        let id = format!("{}-A", pipe.id);
        note(&id, "drawn twice", format!("the same line as {}", pipe.id));
        Pipe { id, ..pipe.clone() }
    });
    pipes.extend(copy);

    // An old main that was cut off when the avenue was relaid, and one that is planned.
    let old = [
        ("SL-0901", "ABN", "MH-0507", "MH-0407H", "abandoned pipe still drawn"),
        ("SL-0902", "PRO", "MH-0602", "MH-0502H", "proposed pipe drawn"),
    ];
    for (id, status, from, to, fault) in old {
        let place = |id: &str| pipes.iter().find(|p| p.from == id).and_then(|p| p.parts.first()).and_then(|p| p.first()).copied();
        let (a, b) = (place(from), place(to));
        let (Some(a), Some(b)) = (a, b) else { continue };
        note(id, fault, format!("from {to} to {from}"));
        pipes.push(Pipe {
            id: id.to_owned(),
            kind: "MAIN",
            from: to.to_owned(),
            to: from.to_owned(),
            parts: vec![vec![b, a]],
            invert_from: -9999.0,
            invert_to: -9999.0,
            diameter_in: 15,
            material: "VCP",
            year: if status == "PRO" { 2027 } else { 1931 },
            status,
            system: "ST",
            owner: VILLAGE,
        });
    }
    faults
}

/// Shortens a line at its end by so many feet.
fn pull_back(pipe: &mut Pipe, feet: f64) {
    let Some(part) = pipe.parts.last_mut() else { return };
    let &mut [.., before, ref mut last] = part.as_mut_slice() else { return };
    let length = super::ground::distance(before, *last);
    if length > feet {
        let share = (length - feet) / length;
        *last = [hundredths(before[0] + (last[0] - before[0]) * share), hundredths(before[1] + (last[1] - before[1]) * share)];
    }
}

fn halfway(a: Map, b: Map) -> Map {
    [hundredths((a[0] + b[0]) / 2.0), hundredths((a[1] + b[1]) / 2.0)]
}
