//! What do field and laboratory measurements say? Parameters, and the thresholds of the flow chart. Read by later work; nothing is decided here.

use serde::Deserialize;

use super::source::{DataFile, Source, fault};
use crate::error::Result;

pub(super) const FILE: &str = "indicators.toml";

/// How well a parameter tells a kind of flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum Power {
    NotApplicable,
    Poor,
    Fair,
    Good,
}

/// A thing that can be measured.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// Its stable word.
    pub id: String,
    /// What people call it.
    pub words: String,
    /// Its unit as text.
    pub unit: String,
    /// How well it tells sewage.
    pub sewage: Power,
    /// How well it tells wash water.
    pub wash_water: Power,
    /// How well it tells tap water.
    pub tap_water: Power,
    /// How well it tells industrial or commercial waste.
    pub industrial: Power,
    /// Where this comes from.
    pub source: Source,
}

/// Which side of a threshold counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum Side {
    Above,
    AtLeast,
    Below,
    AtMost,
}

impl Side {
    /// Whether a value lies on it.
    pub fn holds(self, value: f64, threshold: f64) -> bool {
        match self {
            Side::Above => value > threshold,
            Side::AtLeast => value >= threshold,
            Side::Below => value < threshold,
            Side::AtMost => value <= threshold,
        }
    }
}

/// A threshold of a flow chart or field trigger.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Threshold {
    /// Its stable word.
    pub id: String,
    /// `flow_chart`, `industrial_benchmark` or `field_trigger`.
    pub group: ThresholdGroup,
    /// The step of the flow chart.
    pub step: Option<u8>,
    /// The parameter.
    pub parameter: String,
    /// The parameter by which it is divided, for a ratio.
    pub divided_by: Option<String>,
    /// Which side counts.
    pub side: Side,
    /// In the parameter's unit.
    pub value: f64,
    /// What it means on that side.
    pub means: String,
    /// Where this comes from.
    pub source: Source,
}

/// What a threshold is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThresholdGroup {
    /// The flow chart for residential drainage areas.
    FlowChart,
    /// Any one means industrial or commercial liquid waste.
    IndustrialBenchmark,
    /// A hint in the field; proves nothing alone.
    FieldTrigger,
}

pub(super) fn read(text: &str) -> Result<(Vec<Parameter>, Vec<Threshold>)> {
    let mut file = DataFile::parse(FILE, text)?;
    let (parameters, thresholds): (Vec<Parameter>, Vec<Threshold>) = (file.entries("parameter")?, file.entries("threshold")?);
    file.finish()?;
    for threshold in &thresholds {
        for named in [Some(&threshold.parameter), threshold.divided_by.as_ref()].into_iter().flatten() {
            if !parameters.iter().any(|p| p.id == *named) {
                let label = format!("threshold {}", threshold.id);
                return Err(fault(FILE, &label, "parameter", format!("\"{named}\" is no parameter of this file")));
            }
        }
    }
    Ok((parameters, thresholds))
}
