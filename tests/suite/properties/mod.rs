//! What holds on every network and for every input? Properties over random small towns, against a plain reading of the rules.
//!
//! `PROPTEST_CASES` raises the number of cases.

use proptest::prelude::ProptestConfig;

mod files;
mod networks;
mod oracle;
mod tracing;
mod untrusted;

/// So many cases as keep the suite quick, unless `PROPTEST_CASES` says otherwise.
fn cases(usual: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok());
    ProptestConfig { cases: asked.unwrap_or(usual), failure_persistence: None, max_shrink_iters: 400, ..ProptestConfig::default() }
}
