//! Which fields do features have whose names are only seen as they come? The union, in the order in which they were first seen.

use std::collections::HashMap;

use super::{RawField, RawLayer, Value};

/// Collects field names; the map is only looked into, never walked.
#[derive(Debug, Default)]
pub(crate) struct Table {
    names: Vec<String>,
    at: HashMap<String, usize>,
}

impl Table {
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// The place of a field, which is added where it is new.
    pub(crate) fn index(&mut self, name: &str) -> usize {
        if let Some(at) = self.at.get(name) {
            return *at;
        }
        self.names.push(name.to_owned());
        self.at.insert(name.to_owned(), self.names.len() - 1);
        self.names.len() - 1
    }

    /// Puts a value where its field stands.
    pub(crate) fn put(&mut self, values: &mut Vec<Value>, name: &str, value: Value) {
        let at = self.index(name);
        if values.len() <= at {
            values.resize(at + 1, Value::Null);
        }
        values[at] = value;
    }

    /// Gives the layer its fields and every feature a value for each of them.
    pub(crate) fn finish(self, layer: &mut RawLayer) {
        for feature in &mut layer.features {
            feature.values.resize(self.names.len(), Value::Null);
        }
        layer.fields = self.names.into_iter().map(RawField::plain).collect();
    }
}
