//! A law or a permit as people read it, and as JSON; and what an investigation says of the law.

use serde_json::{Value as Json, json};

use crate::investigate::{Investigation, SpillLine};
use crate::law::{Basis, Citation, Clock, Counting, Duty, Gap, Law, Permit, Provision, Role};

/// Said with every print of a law.
pub const NOT_ADVICE: &str = "facts of the text in our own words; not legal advice";

fn tail(at: Option<&Citation>, gaps: &[String]) -> String {
    let at = at.map(|a| a.to_string());
    let gaps = (!gaps.is_empty()).then(|| format!("gap {}", gaps.join(", ")));
    let parts: Vec<String> = at.into_iter().chain(gaps).collect();
    if parts.is_empty() { String::new() } else { format!(" [{}]", parts.join("; ")) }
}

fn listed(out: &mut String, parts: &[String]) {
    parts.iter().for_each(|part| out.push_str(&format!("      - {part}\n")));
}

fn provisions(out: &mut String, all: &[Provision], sourced: bool) {
    for p in all {
        let source = if sourced { format!(" [{}]", p.source) } else { String::new() };
        out.push_str(&format!("  {}{}{source}\n", p.words, tail(p.at.as_ref(), &p.gaps)));
        listed(out, &p.parts);
    }
}

fn duties(out: &mut String, roles: &[Role], all: &[Duty], sourced: bool) {
    for role in roles {
        let own: Vec<&Duty> = all.iter().filter(|d| d.who == role.id).collect();
        if own.is_empty() {
            continue;
        }
        out.push_str(&format!("  {}\n", role.words));
        for d in own {
            let word = match d.standing {
                crate::law::Standing::Must => "must",
                crate::law::Standing::May => "may",
            };
            let clocks = if d.clocks.is_empty() { String::new() } else { format!(" (clock: {})", d.clocks.join(", ")) };
            let source = if sourced { format!(" [{}]", d.source) } else { String::new() };
            out.push_str(&format!("    {word} {}{clocks}{}{source}\n", d.words, tail(d.at.as_ref(), &d.gaps)));
            listed(out, &d.parts);
        }
    }
}

fn clocks(out: &mut String, all: &[Clock], roles: &[Role], counting: &Counting) {
    out.push_str(&format!("  counting: {} [{}]\n", counting.words, counting.source));
    for c in all {
        let who = roles.iter().find(|r| r.id == c.who).map_or(c.who.as_str(), |r| &r.words);
        let again = if c.recurring { ", again and again" } else { "" };
        out.push_str(&format!(
            "  {}: {}\n      {} from {} (start {}, length {}){again}; {who}",
            c.id,
            c.words,
            c.unit.words(c.length),
            c.start,
            c.start_basis.word(),
            c.basis.word()
        ));
        match (&c.confirmation, c.confirmed) {
            (_, false) => out.push_str(&format!("\n      NOT CONFIRMED, so no due date: {}", c.source)),
            (Some(by), true) => out.push_str(&format!("; confirmed by {} on {}: {}", by.by, by.on, by.citation)),
            (None, true) => {}
        }
        out.push_str(&format!("{}\n", tail(c.at.as_ref(), &c.gaps)));
    }
}

fn gaps(out: &mut String, all: &[Gap]) {
    for g in all {
        out.push_str(&format!("  {} {}\n      certain: {}; not to be assumed: {}\n", g.id, g.words, g.certain, g.not_assumed));
    }
}

/// A law as people read it.
pub fn law_text(law: &Law) -> String {
    let mut out = format!("{}  ({})\n{}\nadopted {}\n{}\n{NOT_ADVICE}\n", law.title, law.name, law.jurisdiction, law.adopted, law.note);
    out.push_str("\nDEFINITIONS\n");
    for d in &law.definitions {
        out.push_str(&format!("  {}: {}{}\n", d.term, d.words, tail(Some(&d.at), &d.gaps)));
    }
    for l in &law.illicit_limbs {
        out.push_str(&format!("  illicit connection, limb ({}): {}{}\n", l.id, l.words, tail(Some(&l.at), &[])));
    }
    out.push_str("\nSCOPE, PROHIBITIONS, WHAT IS ALLOWED\n");
    provisions(&mut out, &law.provisions, false);
    out.push_str(&format!("\nEXEMPT CATEGORIES\n  {}\n", law.exemptions_note));
    for e in &law.exemptions {
        let state = match (&e.revoked, e.exempt) {
            (_, false) => "; not exempt by this law".to_owned(),
            (Some(r), _) => format!("; revoked from {} by {}: {}", r.on, r.by, r.citation),
            _ => String::new(),
        };
        let condition = e.condition.as_deref().map(|c| format!(" {c}")).unwrap_or_default();
        out.push_str(&format!("  {:4}{}{condition}{state}{}\n", e.id, e.words, tail(Some(&e.at), &[])));
    }
    out.push_str("\nSPECIAL CONDITIONS\n");
    for s in &law.special_conditions {
        let clock = s.clock.as_deref().map(|c| format!(" (clock: {c})")).unwrap_or_default();
        out.push_str(&format!(
            "  {} {}: {}\n      the municipality: {}{clock}{}\n",
            s.id,
            s.kind.word().replace('_', " "),
            s.trigger,
            s.duty,
            tail(Some(&s.at), &s.gaps)
        ));
    }
    out.push_str("\nDUTIES AND POWERS\n");
    duties(&mut out, &law.roles, &law.duties, false);
    out.push_str("\nCLOCKS\n");
    clocks(&mut out, &law.clocks, &law.roles, &law.counting);
    out.push_str(&format!("  public holidays: {}\n", law.calendar.title));
    out.push_str("\nTIME LIMITS THAT THE TEXT DOES NOT GIVE\n");
    for o in &law.open_deadlines {
        out.push_str(&format!("  {}{}\n", o.words, tail(Some(&o.at), &o.gaps)));
    }
    out.push_str("\nSANCTIONS\n");
    for s in &law.sanctions {
        out.push_str(&format!("  {}{}\n", s.words, tail(Some(&s.at), &s.gaps)));
        listed(&mut out, &s.parts);
    }
    out.push_str("\nIN A SPILL\n");
    for c in &law.spill_calls {
        let contact = c.contact.as_deref().map(|c| format!(" ({c})")).unwrap_or_default();
        out.push_str(&format!("  {}: {} {}{contact}{}\n", c.kind.words(), law.role_words(&c.who), c.words, tail(Some(&c.at), &[])));
    }
    out.push_str("\nGAPS: WHAT THE TEXT THAT WAS READ DOES NOT SAY\n");
    gaps(&mut out, &law.gaps);
    out
}

/// A permit as people read it.
pub fn permit_text(permit: &Permit) -> String {
    let mut out = format!(
        "{}  ({})\n{}\neffective {}\n{}\n{NOT_ADVICE}\n",
        permit.title, permit.name, permit.authority, permit.effective, permit.note
    );
    out.push_str("\nWHAT IT SAYS\n");
    provisions(&mut out, &permit.provisions, true);
    out.push_str("\nMONITORING LOCATIONS\n");
    permit.location_kinds.iter().for_each(|k| out.push_str(&format!("  {} [{}]\n", k.words, k.source)));
    out.push_str("\nPOLLUTANTS OF CONCERN\n");
    for p in &permit.pollutants {
        let doubtful =
            if p.doubtful_parameters.0.is_empty() { String::new() } else { format!("; not always {}", p.doubtful_parameters.0.join(", ")) };
        out.push_str(&format!(
            "  {} [{}]\n      from {}{doubtful} [{}]\n",
            p.words,
            p.source,
            p.parameters.0.join(", "),
            p.parameters_source
        ));
    }
    out.push_str("\nDUTIES\n");
    duties(&mut out, &permit.roles, &permit.duties, true);
    out.push_str("\nCLOCKS\n");
    clocks(&mut out, &permit.clocks, &permit.roles, &permit.counting);
    out.push_str("\nGAPS: WHAT IS NOT KNOWN\n");
    gaps(&mut out, &permit.gaps);
    out
}

fn place(at: Option<&Citation>) -> Json {
    at.map_or(Json::Null, |a| json!({ "section": a.section, "order": a.order, "paragraph": a.paragraph, "rows": a.rows }))
}

fn clock_json(c: &Clock) -> Json {
    json!({
        "id": c.id, "words": c.words, "who": c.who, "start": c.start, "start_basis": c.start_basis.word(), "length": c.length,
        "unit": c.unit.word(), "basis": c.basis.word(), "recurring": c.recurring, "confirmed": c.confirmed,
        "confirmation": c.confirmation.as_ref().map(|f| json!({ "by": f.by, "on": f.on.to_string(), "citation": f.citation })),
        "at": place(c.at.as_ref()), "gaps": c.gaps, "source": c.source.to_string(),
    })
}

fn duty_json(d: &Duty) -> Json {
    json!({
        "id": d.id, "who": d.who, "must": d.standing == crate::law::Standing::Must, "words": d.words, "parts": d.parts, "clocks": d.clocks,
        "at": place(d.at.as_ref()), "gaps": d.gaps, "source": d.source.to_string(),
    })
}

fn provision_json(p: &Provision) -> Json {
    json!({ "id": p.id, "words": p.words, "parts": p.parts, "at": place(p.at.as_ref()), "gaps": p.gaps, "source": p.source.to_string() })
}

fn gap_json(g: &Gap) -> Json {
    json!({ "id": g.id, "words": g.words, "certain": g.certain, "not_assumed": g.not_assumed })
}

fn counting_json(c: &Counting) -> Json {
    json!({ "id": c.id, "words": c.words, "first_day_counts": c.first_day_counts, "moves_to_business_day": c.moves_to_business_day, "source": c.source.to_string() })
}

/// A law as JSON.
pub fn law_json(law: &Law) -> Json {
    json!({
        "profile": law.name, "kind": "law", "title": law.title, "jurisdiction": law.jurisdiction, "adopted": law.adopted, "note": law.note,
        "notice": NOT_ADVICE, "counting": counting_json(&law.counting), "holidays": law.calendar.name,
        "roles": law.roles.iter().map(|r| json!({ "id": r.id, "words": r.words })).collect::<Vec<_>>(),
        "definitions": law.definitions.iter().map(|d| json!({ "id": d.id, "term": d.term, "term_assumed": d.term_basis == Basis::Assumed, "words": d.words, "at": place(Some(&d.at)), "gaps": d.gaps })).collect::<Vec<_>>(),
        "illicit_limbs": law.illicit_limbs.iter().map(|l| json!({ "id": l.id, "words": l.words, "at": place(Some(&l.at)) })).collect::<Vec<_>>(),
        "provisions": law.provisions.iter().map(provision_json).collect::<Vec<_>>(),
        "exemptions": law.exemptions.iter().map(|e| json!({
            "id": e.id, "words": e.words, "condition": e.condition, "exempt": e.exempt,
            "limit": e.limit.as_ref().map(|l| json!({ "parameter": l.parameter, "below": l.below, "unit": l.unit, "typically": l.typically })),
            "revoked": e.revoked.as_ref().map(|r| json!({ "by": r.by, "on": r.on.to_string(), "citation": r.citation })), "at": place(Some(&e.at)),
        })).collect::<Vec<_>>(),
        "exemptions_note": law.exemptions_note,
        "special_conditions": law.special_conditions.iter().map(|s| json!({ "id": s.id, "kind": s.kind.word(), "trigger": s.trigger, "duty": s.duty, "clock": s.clock, "at": place(Some(&s.at)), "gaps": s.gaps })).collect::<Vec<_>>(),
        "duties": law.duties.iter().map(duty_json).collect::<Vec<_>>(),
        "clocks": law.clocks.iter().map(clock_json).collect::<Vec<_>>(),
        "open_deadlines": law.open_deadlines.iter().map(|o| json!({ "id": o.id, "words": o.words, "at": place(Some(&o.at)), "gaps": o.gaps })).collect::<Vec<_>>(),
        "sanctions": law.sanctions.iter().map(|s| json!({ "id": s.id, "words": s.words, "parts": s.parts, "dollars_per_violation_day": s.dollars_per_violation_day, "imprisonment_days": s.imprisonment_days, "at": place(Some(&s.at)), "gaps": s.gaps })).collect::<Vec<_>>(),
        "spill_calls": law.spill_calls.iter().map(|c| json!({ "id": c.id, "kind": c.kind.word(), "who": c.who, "words": c.words, "contact": c.contact, "clock": c.clock, "at": place(Some(&c.at)) })).collect::<Vec<_>>(),
        "gaps": law.gaps.iter().map(gap_json).collect::<Vec<_>>(),
    })
}

/// A permit as JSON.
pub fn permit_json(permit: &Permit) -> Json {
    json!({
        "profile": permit.name, "kind": "permit", "title": permit.title, "authority": permit.authority, "effective": permit.effective, "note": permit.note,
        "notice": NOT_ADVICE, "counting": counting_json(&permit.counting), "holidays": permit.calendar.name,
        "provisions": permit.provisions.iter().map(provision_json).collect::<Vec<_>>(),
        "location_kinds": permit.location_kinds.iter().map(|k| json!({ "id": k.id, "words": k.words, "outfall_kinds": k.outfall_kinds, "source": k.source.to_string() })).collect::<Vec<_>>(),
        "pollutants": permit.pollutants.iter().map(|p| json!({ "id": p.id, "words": p.words, "parameters": p.parameters.0, "doubtful_parameters": p.doubtful_parameters.0, "parameters_source": p.parameters_source, "source": p.source.to_string() })).collect::<Vec<_>>(),
        "duties": permit.duties.iter().map(duty_json).collect::<Vec<_>>(),
        "clocks": permit.clocks.iter().map(clock_json).collect::<Vec<_>>(),
        "gaps": permit.gaps.iter().map(gap_json).collect::<Vec<_>>(),
    })
}

pub(super) fn possible_exemptions(found: &Investigation) -> Json {
    let row = |e: &crate::investigate::PossibleExemption| {
        json!({
            "category": e.category, "signature": e.signature, "text": e.text, "when": e.when, "presumption": e.presumption.word(),
            "citation": e.citation,
        })
    };
    found.exemptions.iter().map(row).collect()
}

pub(super) fn spill(lines: &[SpillLine]) -> Json {
    let row = |l: &SpillLine| {
        json!({
            "kind": l.kind.word(), "who": l.who, "words": l.words, "contact": l.contact,
            "due_if_known_on_as_of": l.due.as_ref().map(|d| d.0.to_string()), "due_basis": l.due.as_ref().map(|d| &d.1), "citation": l.citation,
        })
    };
    lines.iter().map(row).collect()
}

/// What the law says of an investigation, as lines for a terminal.
pub fn investigation_text(found: &Investigation) -> String {
    let mut out = String::new();
    if !found.spill.is_empty() {
        out.push_str("\nif this is a spill\n");
        for line in &found.spill {
            let contact = line.contact.as_deref().map(|c| format!(" ({c})")).unwrap_or_default();
            let due = line.due.as_ref().map(|(on, _)| format!(": if known on {}, by {on}", found.as_of)).unwrap_or_default();
            out.push_str(&format!("  {}: {} {}{contact}{due}\n", line.kind.words(), line.who, line.words));
        }
    }
    if !found.exemptions.is_empty() {
        out.push_str("\nthe law may exempt it; whether it does is for the agency to say\n");
        for (at, e) in found.exemptions.iter().enumerate() {
            // Two things seen may have the same category: it is said once.
            if found.exemptions[..at].iter().any(|other| other.category == e.category) {
                continue;
            }
            let reading = if e.presumption == crate::law::Presumption::Undetermined { "; undetermined without a reading" } else { "" };
            out.push_str(&format!("  {}{reading} [{}]\n", e.text, e.citation));
        }
    }
    out
}
