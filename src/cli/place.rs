//! How does a person say where? A coordinate, a structure or a conduit.

use clap::Args;
use geo::Point;

use crate::crs::Crs;
use crate::error::{Error, Result};
use crate::investigate::{WaterReport, Whereabouts};
use crate::settings::Length;
use crate::town::Town;

/// Where something was seen.
#[derive(Debug, Args)]
#[command(next_help_heading = "Where")]
pub(super) struct PlaceArgs {
    /// A coordinate: LON,LAT, or X,Y of --crs.
    #[arg(long, value_name = "LON,LAT", allow_hyphen_values = true, conflicts_with_all = ["structure", "conduit"])]
    at: Option<String>,
    /// The CRS of --at, such as EPSG:2261; longitude and latitude where absent.
    #[arg(long, requires = "at")]
    crs: Option<String>,
    /// A structure: ID, or LAYER/ID.
    #[arg(long, value_name = "ID", conflicts_with = "conduit")]
    structure: Option<String>,
    /// A conduit: ID, or LAYER/ID; all of it is upstream.
    #[arg(long, value_name = "ID")]
    conduit: Option<String>,
    /// A watercourse or waterbody: ID, LAYER/ID or name; with --at the place on it, else all of it.
    #[arg(long, value_name = "ID", conflicts_with_all = ["structure", "conduit"])]
    pub water: Option<String>,
    /// Which conduit is meant, where the coordinate lies between several.
    #[arg(long, value_name = "CONDUIT", requires = "at")]
    pub on: Option<String>,
    /// How far from the coordinate the conduit may lie, such as "50 ft"; the town's setting where absent.
    #[arg(long, value_name = "LENGTH", requires = "at", value_parser = parse_length)]
    pub search_radius: Option<Length>,
}

/// Reads `50 ft`.
pub(super) fn parse_length(text: &str) -> std::result::Result<Length, String> {
    Length::parse(text).ok_or_else(|| "expected a number and ft or m, such as \"50 ft\"".to_owned())
}

impl PlaceArgs {
    /// The report on a water, where one is named.
    pub fn water_report(&self, town: &Town, pollutants: &[String], limit: Option<Length>) -> Result<Option<WaterReport>> {
        let Some(water) = &self.water else { return Ok(None) };
        let at = match &self.at {
            Some(_) => match self.whereabouts(town)? {
                Whereabouts::Point(point) => Some(point),
                _ => None,
            },
            None => None,
        };
        Ok(Some(WaterReport { water: water.clone(), at, pollutants: pollutants.to_vec(), upstream_limit_m: limit.map(Length::metres) }))
    }

    /// The place that was meant.
    pub fn whereabouts(&self, town: &Town) -> Result<Whereabouts> {
        if let Some(id) = &self.structure {
            return Ok(Whereabouts::Structure(id.clone()));
        }
        if let Some(id) = &self.conduit {
            return Ok(Whereabouts::Conduit(id.clone()));
        }
        let Some(text) = &self.at else {
            return Err(Error::usage("no place was given").hint("give --at LON,LAT, --structure ID, --conduit ID or --water ID"));
        };
        let numbers: Vec<f64> = text.split(',').filter_map(|part| part.trim().parse().ok()).filter(|v: &f64| v.is_finite()).collect();
        let [x, y] = numbers.as_slice() else {
            return Err(Error::usage("--at is no coordinate")
                .found(format!("\"{text}\""))
                .expected("two numbers with a comma, such as -76.21,43.10"));
        };
        let crs = match &self.crs {
            Some(crs) => Crs::parse(crs)?,
            None => Crs::lon_lat()?,
        };
        if !crs.is_projected() && (x.abs() > 180.0 || y.abs() > 90.0) {
            return Err(Error::usage(format!("{x}, {y} is no longitude and latitude"))
                .hint("longitude comes first; say --crs for other coordinates"));
        }
        let [x, y] = town.working.point_in(&crs, *x, *y)?;
        Ok(Whereabouts::Point(Point::new(x, y)))
    }
}
