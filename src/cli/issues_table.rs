//! How are data issues shown on a terminal? By kind with counts and examples, or every one.

use std::collections::BTreeMap;

use crate::data_issue::{DataIssue, IssueCode};

/// Prints them, the gravest first.
pub(super) fn print(issues: &[DataIssue], all: bool) {
    if issues.is_empty() {
        println!("no data issues");
        return;
    }
    let mut by_code: BTreeMap<IssueCode, Vec<&DataIssue>> = BTreeMap::new();
    for issue in issues {
        by_code.entry(issue.code).or_default().push(issue);
    }
    let mut kinds: Vec<(IssueCode, Vec<&DataIssue>)> = by_code.into_iter().collect();
    kinds.sort_by(|a, b| b.0.severity().cmp(&a.0.severity()).then(a.0.cmp(&b.0)));
    println!("data issues: {}", super::grouped(issues.len()));
    for (code, issues) in &kinds {
        println!("  {:8} {:>7}  {:28} {}", code.severity().word(), super::grouped(issues.len()), code.as_str(), code.meaning());
    }
    if !all {
        if let Some(issue) = kinds.first().and_then(|(_, issues)| issues.first()) {
            println!("  for example: {}", issue.message);
        }
        println!("  (every one: headwall import --all-issues)");
        return;
    }
    println!();
    for (code, issues) in &kinds {
        for issue in issues {
            println!("{code}  {}: {}", issue.layer, issue.message);
        }
    }
}
