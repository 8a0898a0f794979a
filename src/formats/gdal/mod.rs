//! What does GDAL read for us? GeoPackage, File Geodatabase, FlatGeobuf, TopoJSON and GML: one allowed driver each, no network, nothing written.
//!
//! Geometry leaves as well-known binary for our own bounded reader; no type of GDAL's is seen outside.

use std::path::Path;
use std::sync::OnceLock;

use gdal::vector::{Feature, Layer, LayerAccess, OGRFieldType};
use gdal::{Dataset, DatasetOptions, GdalOpenFlags};

use super::curves::Fineness;
use super::{RawFeature, RawField, RawLayer, RawShape, Value, file_name, wkb};
use crate::crs::Crs;
use crate::data_issue::{DataIssue, IssueCode};
use crate::error::{Error, Result};

mod raw;

/// A format that is left to GDAL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    GeoPackage,
    FileGeodatabase,
    ZippedGeodatabase,
    FlatGeobuf,
    TopoJson,
    Gml,
}

impl Format {
    fn driver(self) -> &'static str {
        match self {
            Format::GeoPackage => "GPKG",
            Format::FileGeodatabase | Format::ZippedGeodatabase => "OpenFileGDB",
            Format::FlatGeobuf => "FlatGeobuf",
            Format::TopoJson => "TopoJSON",
            Format::Gml => "GML",
        }
    }

    fn open_options(self) -> &'static [&'static str] {
        match self {
            // An immutable database needs no lock, no journal and no shared memory file beside it.
            Format::GeoPackage => &["IMMUTABLE=YES", "LIST_ALL_TABLES=NO"],
            Format::Gml => &["WRITE_GFS=NO", "DOWNLOAD_SCHEMA=NO"],
            _ => &[],
        }
    }

    fn word(self) -> &'static str {
        match self {
            Format::GeoPackage => "GeoPackage",
            Format::FileGeodatabase | Format::ZippedGeodatabase => "File Geodatabase",
            Format::FlatGeobuf => "FlatGeobuf",
            Format::TopoJson => "TopoJSON",
            Format::Gml => "GML",
        }
    }
}

/// Settings that hold for the whole process, made once: nothing is fetched, loaded or run.
fn configure() -> Result<()> {
    static DONE: OnceLock<bool> = OnceLock::new();
    let done = *DONE.get_or_init(|| {
        let options = [
            // Nobody listens on port 9: the only switch that also stops what drivers fetch by themselves.
            ("GDAL_HTTP_PROXY", "127.0.0.1:9"),
            ("GDAL_HTTPS_PROXY", "127.0.0.1:9"),
            ("GDAL_HTTP_MAX_RETRY", "0"),
            ("CPL_VSIL_CURL_ALLOWED_EXTENSIONS", "{noext}"),
            ("GDAL_DRIVER_PATH", "disable"),
            ("PROJ_NETWORK", "OFF"),
            ("OSR_IMPORT_FROM_URL", "NO"),
            ("GDAL_VRT_ENABLE_PYTHON", "NO"),
            ("GDAL_PAM_ENABLED", "NO"),
            ("OGR_GML_DOWNLOAD_SCHEMA", "NO"),
            ("GML_SKIP_RESOLVE_ELEMS", "ALL"),
            // Fields of text that is not UTF-8 come as they are and are repaired by us.
            ("OGR_SQLITE_JOURNAL", "OFF"),
        ];
        let set = options.iter().all(|(key, value)| gdal::config::set_config_option(key, value).is_ok());
        let unset = gdal::config::clear_config_option("OGR_SQLITE_LOAD_EXTENSIONS").is_ok();
        raw::silence();
        set && unset
    });
    if done { Ok(()) } else { Err(Error::machine("GDAL cannot be configured")) }
}

fn open(path: &Path, format: Format) -> Result<Dataset> {
    configure()?;
    let trouble = || Error::input(format!("this {} cannot be opened", format.word())).file(path).hint("copy or export the file again");
    let real = std::fs::canonicalize(path).map_err(|cause| Error::input("the file is not there").file(path).cause(cause))?;
    let Some(name) = real.to_str() else { return Err(trouble().found("a name that is not UTF-8")) };
    // A canonical path is absolute, so neither an address nor one of GDAL's virtual systems can hide in it; this one could.
    if name.starts_with("/vsi") {
        return Err(trouble().found("a path that begins with /vsi"));
    }
    let name = if format == Format::ZippedGeodatabase { format!("/vsizip/{name}") } else { name.to_owned() };
    let drivers = [format.driver()];
    let options = DatasetOptions {
        open_flags: GdalOpenFlags::GDAL_OF_VECTOR | GdalOpenFlags::GDAL_OF_READONLY | GdalOpenFlags::GDAL_OF_VERBOSE_ERROR,
        allowed_drivers: Some(&drivers),
        open_options: Some(format.open_options()),
        sibling_files: None,
    };
    Dataset::open_ex(name, options).map_err(|cause| trouble().cause(cause))
}

/// The names of the layers, in the file's order.
pub(super) fn layers(path: &Path, format: Format) -> Result<Vec<String>> {
    Ok(open(path, format)?.layers().map(|layer| layer.name()).collect())
}

/// Reads one layer; without a name only a file with one layer.
pub(super) fn read(path: &Path, format: Format, wanted: Option<&str>) -> Result<RawLayer> {
    let dataset = open(path, format)?;
    let names: Vec<String> = dataset.layers().map(|layer| layer.name()).collect();
    let at = match wanted {
        Some(wanted) => names.iter().position(|n| n == wanted).ok_or_else(|| {
            Error::input("the file has no such layer")
                .file(path)
                .layer(wanted)
                .expected(format!("one of {}", names.join(", ")))
                .hint("names are compared letter by letter; correct `layer` in headwall.toml")
        })?,
        None if names.len() == 1 => 0,
        None if names.is_empty() => return Err(Error::input("the file has no layers").file(path)),
        None => {
            return Err(Error::settings(format!("the file has {} layers, so one must be named", names.len()))
                .file(path)
                .found(names.join(", "))
                .hint("set `layer` in headwall.toml to one of them"));
        }
    };
    let mut source =
        dataset.layer(at).map_err(|cause| Error::input("the layer cannot be read").file(path).layer(&names[at]).cause(cause))?;
    let mut layer = RawLayer::new(path, names[at].clone());
    layer.crs = reference(&source);
    if layer.crs.is_none() && format == Format::TopoJson {
        layer.crs = Some("OGC:CRS84".to_owned());
        layer.crs_is_implied = true;
    }
    let fineness = Fineness { metres_per_unit: metres_per_unit(layer.crs.as_deref()) };
    let columns = columns(&dataset, &source, &mut layer);
    let row_field = raw::row_number_field(&source);
    if let Some(name) = &row_field {
        layer.fields.insert(0, RawField { is_row_number: true, ..RawField::plain(name.as_str()) });
    }
    let expected = source.try_feature_count();
    raw::forget_errors();
    for feature in source.features() {
        let mut values = Vec::with_capacity(layer.fields.len());
        if row_field.is_some() {
            values.push(feature.fid().and_then(|fid| i64::try_from(fid).ok()).map_or(Value::Null, Value::Int));
        }
        values.extend(columns.iter().map(|(at, kind)| value(&feature, *at, *kind)));
        let (shape, bad_height) = match raw::wkb(&feature) {
            Some(bytes) => {
                let read = wkb::read(&bytes, fineness);
                (read.shape, read.bad_height)
            }
            None => (RawShape::None, false),
        };
        layer.features.push(RawFeature { row: layer.features.len() + 1, feature_id: None, shape, bad_height, values });
    }
    let read = layer.features.len();
    let short = expected.is_none_or(|count| usize::try_from(count).is_ok_and(|count| count > read));
    match raw::last_failure() {
        Some(reason) if short => {
            return Err(Error::input("the layer cannot be read to its end")
                .file(path)
                .layer(&layer.name)
                .found(reason)
                .hint("the file is damaged: copy or export it again"));
        }
        // All features are there, but something in one of them is not.
        Some(reason) => {
            layer.issues.push(DataIssue::new(IssueCode::ValueUnreadable, "").file(file_name(path)).value(reason.as_str()).message(format!(
                "something in layer {} of {} could not be read: {reason}",
                layer.name,
                file_name(path)
            )))
        }
        None if short && expected.is_some() => {
            layer.issues.push(DataIssue::new(IssueCode::InputIncomplete, "").file(file_name(path)).message(format!(
                "{} says that layer {} has more features than can be read",
                file_name(path),
                layer.name
            )));
        }
        None => {}
    }
    Ok(layer)
}

fn columns(dataset: &Dataset, source: &Layer<'_>, layer: &mut RawLayer) -> Vec<(usize, OGRFieldType::Type)> {
    let mut columns = Vec::new();
    for (at, field) in source.defn().fields().enumerate() {
        let kind = field.field_type();
        columns.push((at, kind));
        layer.fields.push(RawField {
            is_date: matches!(kind, OGRFieldType::OFTDate | OGRFieldType::OFTDateTime),
            domain: raw::coded_values(dataset, source, at),
            ..RawField::plain(field.name())
        });
    }
    columns
}

fn reference(source: &Layer<'_>) -> Option<String> {
    let reference = source.spatial_ref()?;
    let wkt = reference.to_wkt().ok()?;
    // GeoPackage has two entries that mean "unknown"; they are no reference.
    let unknown = reference.name().is_some_and(|name| name.to_ascii_lowercase().starts_with("undefined")) || wkt.contains("\"Unknown");
    (!unknown && !wkt.is_empty()).then_some(wkt)
}

fn metres_per_unit(crs: Option<&str>) -> Option<f64> {
    let crs = Crs::from_wkt(crs?).ok()?;
    crs.is_projected().then(|| crs.metres_per_unit())
}

fn value(feature: &Feature<'_>, at: usize, kind: OGRFieldType::Type) -> Value {
    match kind {
        OGRFieldType::OFTInteger | OGRFieldType::OFTInteger64 => {
            feature.field_as_integer64(at).ok().flatten().map_or(Value::Null, Value::Int)
        }
        OGRFieldType::OFTReal => feature.field_as_double(at).ok().flatten().filter(|v| v.is_finite()).map_or(Value::Null, Value::Real),
        OGRFieldType::OFTDate | OGRFieldType::OFTDateTime => {
            feature.field_as_string(at).ok().flatten().and_then(|text| date(&text)).map_or(Value::Null, Value::Date)
        }
        OGRFieldType::OFTBinary => Value::Null,
        _ => feature.field_as_string(at).ok().flatten().map_or(Value::Null, Value::Text),
    }
}

/// GDAL's `2024/02/29 10:22:34.016+00` as a date or an instant; a time without a zone is taken for UTC.
fn date(text: &str) -> Option<String> {
    let text = text.trim().replace('/', "-");
    let Some((day, time)) = text.split_once(' ') else { return (!text.is_empty()).then_some(text) };
    let (clock, zone) = match time.find(['+', '-']) {
        Some(at) => time.split_at(at),
        None => (time, "+00"),
    };
    let zone = match zone.len() {
        3 => format!("{zone}:00"),
        5 if zone.is_ascii() && !zone.contains(':') => format!("{}:{}", &zone[..3], &zone[3..]),
        _ => zone.to_owned(),
    };
    let stamp: jiff::Timestamp = format!("{day}T{clock}{zone}").parse().ok()?;
    Some(stamp.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_all_sorts() {
        assert_eq!(date("2024/02/29").as_deref(), Some("2024-02-29"));
        assert_eq!(date("2024/04/27 10:22:34.016+00").as_deref(), Some("2024-04-27T10:22:34.016Z"));
        assert_eq!(date("2024/04/27 10:22:34-0430").as_deref(), Some("2024-04-27T14:52:34Z"));
        assert_eq!(date("1955/06/02 00:00:00").as_deref(), Some("1955-06-02T00:00:00Z"));
        assert_eq!(date(""), None);
    }

    #[test]
    fn what_is_not_there_or_not_that_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.gpkg");
        assert!(read(&path, Format::GeoPackage, None).is_err());
        std::fs::write(&path, b"SQLite format 3\0 and no more").unwrap();
        let error = read(&path, Format::GeoPackage, None).unwrap_err().to_string();
        assert!(error.contains("a.gpkg"), "{error}");
        assert!(read(Path::new("/vsicurl/http://127.0.0.1/a.gpkg"), Format::GeoPackage, None).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
