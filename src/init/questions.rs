//! Which questions does a town file still hold, and what does each cost?

/// A question that stands in a town file as a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenQuestion {
    /// The line, from 1.
    pub line: usize,
    /// What is asked.
    pub asks: String,
    /// What answers lack until it is answered.
    pub costs: String,
}

/// The open questions of a town file: its comments that begin with `QUESTION:`, with the `COST:` behind each.
///
/// ```
/// let text = "# QUESTION: pipes: which field is the id?\n#   COST: ids change with the next export\nname = \"T\"\n";
/// let open = headwall::init::open_questions(text);
/// assert_eq!((open[0].line, open[0].costs.as_str()), (1, "ids change with the next export"));
/// ```
pub fn open_questions(text: &str) -> Vec<OpenQuestion> {
    let mut found: Vec<OpenQuestion> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let Some(comment) = line.trim().strip_prefix('#').map(str::trim) else { continue };
        if let Some(asks) = comment.strip_prefix("QUESTION:") {
            found.push(OpenQuestion { line: at + 1, asks: asks.trim().to_owned(), costs: String::new() });
        } else if let (Some(costs), Some(last)) = (comment.strip_prefix("COST:"), found.last_mut())
            && last.costs.is_empty()
        {
            last.costs = costs.trim().to_owned();
        }
    }
    found
}
