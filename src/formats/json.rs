//! What does JSON text hold, exactly? Numbers keep their own digits, members their order and case, and depth is bounded.
//!
//! Map services write what strict readers refuse (`NaN` as a number) or bend (ids beyond 2^53), and a feature that is bad
//! must not cost the rest; so raw text is kept until a reader decides. Nothing here recurses without a bound.

use std::borrow::Cow;

/// Deeper nesting than any real feature has (a multi-polygon needs eight levels).
pub(crate) const DEPTH_LIMIT: usize = 64;

/// A JSON value; texts and numbers borrow from the input where they can.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json<'a> {
    Null,
    Bool(bool),
    /// The number's own digits; also `NaN` and `Infinity`, which some writers let out.
    Number(&'a str),
    Text(Cow<'a, str>),
    Array(Vec<Json<'a>>),
    /// Members in the order in which they stand; names may repeat.
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
    /// An array or object that was not opened: its text.
    Raw(&'a str),
}

/// What is wrong and at which byte.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JsonFault {
    pub at: usize,
    pub message: &'static str,
}

impl<'a> Json<'a> {
    /// The last member of that name (as most readers take repeats).
    pub(crate) fn get(&self, name: &str) -> Option<&Json<'a>> {
        match self {
            Json::Object(members) => members.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn array(&self) -> Option<&[Json<'a>]> {
        match self {
            Json::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The number; NaN where it says so, `None` where it is no number at all.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Json::Number(text) => Some(number(text)),
            _ => None,
        }
    }

    pub(crate) fn is_true(&self) -> bool {
        matches!(self, Json::Bool(true))
    }
}

fn number(text: &str) -> f64 {
    match text {
        "Infinity" => f64::INFINITY,
        "-Infinity" => f64::NEG_INFINITY,
        _ => text.parse().unwrap_or(f64::NAN),
    }
}

/// Reads one value at a time from text that may hold several.
pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Reader { text, at: 0 }
    }

    /// Steps over the comma between two elements.
    pub(crate) fn separator(&mut self) -> Result<(), JsonFault> {
        self.skip_blanks();
        self.comma()
    }

    /// True where nothing but blanks (and record separators) is left.
    pub(crate) fn at_end(&mut self) -> bool {
        self.skip_blanks();
        self.at >= self.text.len()
    }

    /// The next value. Arrays and objects deeper than `open` levels stay [`Json::Raw`].
    pub(crate) fn value(&mut self, open: usize) -> Result<Json<'a>, JsonFault> {
        self.skip_blanks();
        match self.peek() {
            Some(b'{' | b'[') if open == 0 => self.raw().map(Json::Raw),
            Some(b'{') => self.object(open - 1),
            Some(b'[') => self.array(open - 1),
            Some(b'"') => self.string().map(Json::Text),
            Some(_) => self.word(),
            None => Err(self.fault("the text ends where a value should be")),
        }
    }

    /// The text of the next array or object, skipped over without recursion.
    fn raw(&mut self) -> Result<&'a str, JsonFault> {
        let start = self.at;
        let mut depth = 0usize;
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        self.at += 1;
                        return Ok(&self.text[start..self.at]);
                    }
                }
                b'"' => {
                    self.skip_string()?;
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
        Err(self.fault("the text ends inside an array or object"))
    }

    fn object(&mut self, open: usize) -> Result<Json<'a>, JsonFault> {
        self.at += 1;
        let mut members = Vec::new();
        if self.closes(b'}') {
            return Ok(Json::Object(members));
        }
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'"') {
                return Err(self.fault("a member's name in quotes should stand here"));
            }
            let name = self.string()?;
            self.skip_blanks();
            if self.peek() != Some(b':') {
                return Err(self.fault("a colon should stand here"));
            }
            self.at += 1;
            members.push((name, self.value(open)?));
            if self.closes(b'}') {
                return Ok(Json::Object(members));
            }
            self.comma()?;
        }
    }

    fn array(&mut self, open: usize) -> Result<Json<'a>, JsonFault> {
        self.at += 1;
        let mut items = Vec::new();
        if self.closes(b']') {
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value(open)?);
            if self.closes(b']') {
                return Ok(Json::Array(items));
            }
            self.comma()?;
        }
    }

    fn closes(&mut self, with: u8) -> bool {
        self.skip_blanks();
        let closes = self.peek() == Some(with);
        self.at += usize::from(closes);
        closes
    }

    fn comma(&mut self) -> Result<(), JsonFault> {
        if self.peek() != Some(b',') {
            return Err(self.fault("a comma should stand here"));
        }
        self.at += 1;
        Ok(())
    }

    fn word(&mut self) -> Result<Json<'a>, JsonFault> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        while bytes.get(self.at).is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.')) {
            self.at += 1;
        }
        let word = &self.text[start..self.at];
        match word {
            "null" => Ok(Json::Null),
            "true" => Ok(Json::Bool(true)),
            "false" => Ok(Json::Bool(false)),
            "NaN" | "-NaN" | "nan" => Ok(Json::Number("NaN")),
            "Infinity" | "-Infinity" => Ok(Json::Number(word)),
            _ if word.starts_with(|c: char| c.is_ascii_digit() || c == '-') && word.parse::<f64>().is_ok() => Ok(Json::Number(word)),
            _ => {
                self.at = start;
                Err(self.fault("this is no JSON value"))
            }
        }
    }

    fn skip_string(&mut self) -> Result<(), JsonFault> {
        let bytes = self.text.as_bytes();
        self.at += 1;
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at = bytes.len();
        Err(self.fault("the text ends inside quotes"))
    }

    fn string(&mut self) -> Result<Cow<'a, str>, JsonFault> {
        let start = self.at + 1;
        self.skip_string()?;
        let raw = self.text.get(start..self.at - 1).unwrap_or_default();
        if !raw.contains('\\') {
            return Ok(Cow::Borrowed(raw));
        }
        Ok(Cow::Owned(unescaped(raw)))
    }

    fn skip_blanks(&mut self) {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n' | 0x1e)) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fault(&self, message: &'static str) -> JsonFault {
        JsonFault { at: self.at, message }
    }
}

/// Undoes `\n`, `\u00e9` and their kin; what is no proper escape becomes U+FFFD.
fn unescaped(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw.chars();
    let mut high: Option<u32> = None;
    while let Some(c) = rest.next() {
        let unit = if c == '\\' {
            match rest.next() {
                Some('u') => {
                    let digits: String = rest.by_ref().take(4).collect();
                    u32::from_str_radix(&digits, 16).unwrap_or(0xfffd)
                }
                Some('n') => 0x0a,
                Some('t') => 0x09,
                Some('r') => 0x0d,
                Some('b') => 0x08,
                Some('f') => 0x0c,
                Some(other) => other as u32,
                None => 0xfffd,
            }
        } else {
            c as u32
        };
        match (high.take(), unit) {
            (Some(first), 0xdc00..=0xdfff) => {
                out.push(char::from_u32(0x10000 + ((first - 0xd800) << 10) + (unit - 0xdc00)).unwrap_or('\u{fffd}'));
                continue;
            }
            (Some(_), _) => out.push('\u{fffd}'),
            (None, _) => {}
        }
        match unit {
            0xd800..=0xdbff => high = Some(unit),
            _ => out.push(char::from_u32(unit).unwrap_or('\u{fffd}')),
        }
    }
    if high.is_some() {
        out.push('\u{fffd}');
    }
    out
}

/// The line of a byte, from 1, for messages.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|b| **b == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_names_and_order_stay_as_they_are() {
        let value =
            Reader::new(r#" {"ID": 9007199254740993, "id": "a\u00e9\ud83d\ude00\n", "x": NaN, "deep": {"a":[1]}} "#).value(1).unwrap();
        assert_eq!(value.get("ID"), Some(&Json::Number("9007199254740993")));
        assert_eq!(value.get("id").and_then(Json::text), Some("aé😀\n"));
        assert!(value.get("x").and_then(Json::number).unwrap().is_nan());
        assert_eq!(value.get("deep"), Some(&Json::Raw(r#"{"a":[1]}"#)));
    }

    #[test]
    fn depth_costs_no_stack() {
        let deep = "[".repeat(1_000_000);
        assert!(Reader::new(&deep).value(DEPTH_LIMIT).is_err());
        let closed = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(Reader::new(&closed).value(DEPTH_LIMIT).is_ok());
    }

    #[test]
    fn broken_text_is_a_fault_and_no_panic() {
        for text in ["", "{", "{\"a\"", "{\"a\":", "[1,", "\"\\", "{\"a\":1 \"b\"}", "tru", "-", "\"é\\", "[\"\\é"] {
            assert!(Reader::new(text).value(8).is_err(), "{text}");
        }
    }
}
