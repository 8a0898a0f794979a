//! How is a length written in `headwall.toml`? As a number with its unit: `"1 ft"`, `"0.5 m"`.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer};

/// A unit of length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
pub enum LengthUnit {
    /// The international foot, 0.3048 m (a tolerance does not feel the 2 ppm of the survey foot).
    #[default]
    #[serde(rename = "ft", alias = "feet", alias = "foot")]
    Foot,
    /// The US survey foot, 1200/3937 m.
    #[serde(rename = "us-ft")]
    SurveyFoot,
    /// The inch, 25.4 mm.
    #[serde(rename = "in", alias = "inch", alias = "inches")]
    Inch,
    /// The metre.
    #[serde(rename = "m", alias = "metres", alias = "meters")]
    Metre,
    /// The centimetre.
    #[serde(rename = "cm")]
    Centimetre,
    /// The millimetre.
    #[serde(rename = "mm")]
    Millimetre,
}

impl LengthUnit {
    /// Metres in one of it.
    pub fn metres(self) -> f64 {
        match self {
            LengthUnit::Foot => 0.3048,
            LengthUnit::SurveyFoot => 1200.0 / 3937.0,
            LengthUnit::Inch => 0.0254,
            LengthUnit::Metre => 1.0,
            LengthUnit::Centimetre => 0.01,
            LengthUnit::Millimetre => 0.001,
        }
    }

    /// Its abbreviation.
    pub fn word(self) -> &'static str {
        match self {
            LengthUnit::Foot => "ft",
            LengthUnit::SurveyFoot => "us-ft",
            LengthUnit::Inch => "in",
            LengthUnit::Metre => "m",
            LengthUnit::Centimetre => "cm",
            LengthUnit::Millimetre => "mm",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "ft" | "feet" | "foot" | "'" => LengthUnit::Foot,
            "us-ft" | "usft" => LengthUnit::SurveyFoot,
            "in" | "inch" | "inches" | "\"" => LengthUnit::Inch,
            "m" | "metre" | "metres" | "meter" | "meters" => LengthUnit::Metre,
            "cm" => LengthUnit::Centimetre,
            "mm" => LengthUnit::Millimetre,
            _ => return None,
        })
    }
}

/// A length with the unit in which it was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Length {
    value: f64,
    unit: LengthUnit,
}

impl Length {
    /// A length in feet.
    pub fn feet(value: f64) -> Self {
        Length { value, unit: LengthUnit::Foot }
    }

    /// A length in any unit.
    pub fn new(value: f64, unit: LengthUnit) -> Self {
        Length { value, unit }
    }

    /// The length in metres.
    pub fn metres(self) -> f64 {
        self.value * self.unit.metres()
    }

    /// Reads `"1 ft"`.
    ///
    /// ```
    /// use headwall::settings::Length;
    /// assert_eq!(Length::parse("0.5 m").map(Length::metres), Some(0.5));
    /// assert_eq!(Length::parse("10ft").map(Length::metres), Some(3.048));
    /// assert_eq!(Length::parse("10"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let split = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+')))?;
        let value: f64 = text[..split].parse().ok()?;
        let unit = LengthUnit::parse(text[split..].trim())?;
        (value.is_finite() && value >= 0.0).then_some(Length { value, unit })
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.value, self.unit.word())
    }
}

impl<'de> Deserialize<'de> for Length {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Length::parse(&text)
            .ok_or_else(|| de::Error::custom(format!("\"{text}\" is no length; write a number and ft or m, such as \"1 ft\"")))
    }
}
