//! What stops the work? One error type: what went wrong, where, and what to do about it.
//!
//! A gap, a reversed pipe, a missing invert is *not* an error: it is a [`crate::data_issue::DataIssue`].

use std::fmt;
use std::path::Path;

/// The result of everything that can fail here.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What sort of trouble it is; decides the exit code and the HTTP status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A file that was given cannot be used as it is.
    Input,
    /// `headwall.toml` or a rules file says something that cannot be.
    Settings,
    /// What was asked for is not there.
    NotFound,
    /// The question has more than one answer and the asker must choose.
    Ambiguous,
    /// The question itself is wrong.
    Usage,
    /// The machine refused: disk, permissions, a lock that somebody holds.
    Machine,
}

/// Says what is wrong, names file, layer, feature and field where they are known, and hints at the remedy.
///
/// Messages are lower case without a full stop: `pipes.geojson, feature P-0214, field diameter: found "12in", expected millimetres`.
#[derive(Debug)]
pub struct Error(Box<Details>);

/// Apart, so that a result is small where nothing went wrong.
#[derive(Debug)]
struct Details {
    kind: ErrorKind,
    message: String,
    file: Option<String>,
    layer: Option<String>,
    feature: Option<String>,
    field: Option<String>,
    found: Option<String>,
    expected: Option<String>,
    hint: Option<String>,
    cause: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error of the given kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Details {
            kind,
            message: message.into(),
            file: None,
            layer: None,
            feature: None,
            field: None,
            found: None,
            expected: None,
            hint: None,
            cause: None,
        }))
    }

    /// A file that cannot be used as it is.
    pub fn input(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Input, message)
    }

    /// A setting that cannot be.
    pub fn settings(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Settings, message)
    }

    /// Something asked for that is not there.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, message)
    }

    /// A question that makes no sense as it was put.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// The machine refused.
    pub fn machine(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Machine, message)
    }

    /// Names the file, by its name alone: the folder is the reader's own affair.
    pub fn file(mut self, path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        let name = path.file_name().map_or_else(|| path.to_string_lossy(), |n| n.to_string_lossy());
        self.0.file = Some(name.into_owned());
        self
    }

    /// Names the layer.
    pub fn layer(mut self, layer: impl Into<String>) -> Self {
        self.0.layer = Some(layer.into());
        self
    }

    /// Names the feature.
    pub fn feature(mut self, feature: impl Into<String>) -> Self {
        self.0.feature = Some(feature.into());
        self
    }

    /// Names the field.
    pub fn field(mut self, field: impl Into<String>) -> Self {
        self.0.field = Some(field.into());
        self
    }

    /// What was found there.
    pub fn found(mut self, found: impl Into<String>) -> Self {
        self.0.found = Some(found.into());
        self
    }

    /// What was expected instead.
    pub fn expected(mut self, expected: impl Into<String>) -> Self {
        self.0.expected = Some(expected.into());
        self
    }

    /// What to do about it.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// What lies beneath.
    pub fn cause(mut self, cause: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.0.cause = Some(Box::new(cause));
        self
    }

    /// The sort of trouble.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What to do about it, if anything can be said.
    pub fn hint_text(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut place = Vec::new();
        let details = &self.0;
        place.extend(details.file.clone());
        place.extend(details.layer.as_ref().map(|l| format!("layer {l}")));
        place.extend(details.feature.as_ref().map(|id| format!("feature {id}")));
        place.extend(details.field.as_ref().map(|name| format!("field {name}")));
        if !place.is_empty() {
            write!(f, "{}: ", place.join(", "))?;
        }
        f.write_str(&details.message)?;
        if let Some(found) = &details.found {
            write!(f, "; found {found}")?;
        }
        if let Some(expected) = &details.expected {
            write!(f, "; expected {expected}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.cause.as_deref().map(|cause| cause as &(dyn std::error::Error + 'static))
    }
}
