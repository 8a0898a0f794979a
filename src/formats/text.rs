//! Which letters are these bytes? Byte-order marks, a stated encoding, else what the bytes themselves allow.

use std::borrow::Cow;
use std::path::Path;

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

use super::file_name;
use crate::data_issue::{DataIssue, IssueCode};
use crate::error::{Error, Result};

/// Files larger than this are refused: they would not fit into memory beside what is made of them (assumed).
const LARGEST_FILE: u64 = 4 << 30;

/// The bytes of a file.
///
/// # Errors
/// A file that is not there, cannot be read, or is larger than 4 GiB.
pub(super) fn bytes(path: &Path) -> Result<Vec<u8>> {
    let trouble = |cause: std::io::Error| {
        let message = match cause.kind() {
            std::io::ErrorKind::NotFound => "the file is not there",
            _ => "the file cannot be read",
        };
        Error::input(message).file(path).hint("check `path` in headwall.toml, relative to the town's folder").cause(cause)
    };
    let size = std::fs::metadata(path).map_err(trouble)?.len();
    if size > LARGEST_FILE {
        return Err(Error::input("the file is too large").file(path).found(format!("{size} bytes")).expected("at most 4 GiB"));
    }
    std::fs::read(path).map_err(trouble)
}

/// The encoding of that name.
///
/// # Errors
/// A name that nobody knows.
pub(super) fn named_encoding(path: &Path, label: &str) -> Result<&'static Encoding> {
    encoding_of_label(label).ok_or_else(|| {
        Error::settings("this text encoding is not known")
            .file(path)
            .found(format!("\"{label}\""))
            .expected("UTF-8, windows-1252 or another name")
    })
}

/// The encoding of a label as people, `.cpg` files and code pages write it.
pub(super) fn encoding_of_label(label: &str) -> Option<&'static Encoding> {
    let label = label.trim();
    if let Some(known) = Encoding::for_label(label.as_bytes()) {
        return Some(known);
    }
    let digits: String = label.chars().filter(char::is_ascii_digit).collect();
    match digits.as_str() {
        "65001" => Some(UTF_8),
        "88591" => Some(WINDOWS_1252),
        "" => None,
        _ => Encoding::for_label(format!("windows-{digits}").as_bytes())
            .or_else(|| Encoding::for_label(format!("iso-8859-{}", digits.strip_prefix("8859")?).as_bytes())),
    }
}

/// The letters of a text file, and a note where its encoding had to be assumed.
pub(super) fn read(path: &Path, stated: Option<&str>) -> Result<(String, Vec<DataIssue>)> {
    let bytes = bytes(path)?;
    let stated = stated.map(|label| named_encoding(path, label)).transpose()?;
    Ok(decode(path, bytes, stated))
}

/// As [`read`], for JSON, which is UTF-8 by its standard.
pub(super) fn read_json(path: &Path) -> Result<(String, Vec<DataIssue>)> {
    read(path, None)
}

fn decode(path: &Path, bytes: Vec<u8>, stated: Option<&'static Encoding>) -> (String, Vec<DataIssue>) {
    if let Some((encoding, mark)) = Encoding::for_bom(&bytes) {
        return (encoding.decode_without_bom_handling(&bytes[mark..]).0.into_owned(), Vec::new());
    }
    if let Some(encoding) = stated {
        return (encoding.decode_without_bom_handling(&bytes).0.into_owned(), Vec::new());
    }
    match String::from_utf8(bytes) {
        Ok(text) => (text, Vec::new()),
        Err(error) => {
            let text: Cow<'_, str> = WINDOWS_1252.decode_without_bom_handling(error.as_bytes()).0;
            let issue = DataIssue::new(IssueCode::EncodingAssumed, "")
                .file(file_name(path))
                .message(format!("{} is not in UTF-8 and was read as Windows-1252; set `encoding` if that is wrong", file_name(path)));
            (text.into_owned(), vec![issue])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_bytes_decide() {
        let read = |bytes: &[u8]| decode(Path::new("a.csv"), bytes.to_vec(), None);
        assert_eq!(read(b"\xef\xbb\xbfa").0, "a");
        assert_eq!(read(b"\xff\xfea\0").0, "a");
        assert_eq!(read("é".as_bytes()).0, "é");
        let (text, issues) = read(b"Pe\xf1a");
        assert_eq!(text, "Peña");
        assert_eq!(issues[0].code, IssueCode::EncodingAssumed);
    }

    #[test]
    fn labels_of_all_sorts_are_known() {
        for (label, name) in [
            ("UTF-8", "UTF-8"),
            ("1252", "windows-1252"),
            ("ANSI 1252", "windows-1252"),
            ("8859_1", "windows-1252"),
            ("ISO 88591", "windows-1252"),
            ("65001", "UTF-8"),
        ] {
            assert_eq!(encoding_of_label(label).map(Encoding::name), Some(name), "{label}");
        }
        assert_eq!(encoding_of_label("nonsense"), None);
    }
}
