//! What the safe wrapper of GDAL does not give: coded-value domains, well-known binary of any type, the name of the row-number column.
//!
//! The only unsafe code of the package. Each function copies what it reads before the object that owns it can go away.

#![expect(unsafe_code, reason = "calls of GDAL's C interface that its safe wrapper lacks; audited here, in one place")]

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int};

use gdal::Dataset;
use gdal::vector::{Feature, Layer, LayerAccess};

/// Text of GDAL's, copied; `None` where it gives none.
///
/// # Safety
/// `text` is null or points to text with a zero at its end that lives until this returns.
unsafe fn copied(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: not null, and the caller vouches for the zero and the lifetime.
    Some(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// The words of a field's coded-value domain, by code.
pub(super) fn coded_values(dataset: &Dataset, layer: &Layer<'_>, field: usize) -> BTreeMap<String, String> {
    let mut words = BTreeMap::new();
    let Ok(field) = c_int::try_from(field) else { return words };
    // SAFETY: the handles come from a live dataset and layer, which own everything read here; GDAL checks the index;
    // the enumeration ends with an entry whose code is null; all texts are copied before anything can change.
    unsafe {
        let definition = gdal_sys::OGR_FD_GetFieldDefn(gdal_sys::OGR_L_GetLayerDefn(layer.c_layer()), field);
        if definition.is_null() {
            return words;
        }
        let Some(name) = copied(gdal_sys::OGR_Fld_GetDomainName(definition)).filter(|n| !n.is_empty()) else { return words };
        let Ok(name) = CString::new(name) else { return words };
        let domain = gdal_sys::GDALDatasetGetFieldDomain(dataset.c_dataset(), name.as_ptr());
        if domain.is_null() || gdal_sys::OGR_FldDomain_GetDomainType(domain) != gdal_sys::OGRFieldDomainType::OFDT_CODED {
            return words;
        }
        let mut entry = gdal_sys::OGR_CodedFldDomain_GetEnumeration(domain);
        while !entry.is_null() && !(*entry).pszCode.is_null() {
            if let (Some(code), Some(word)) = (copied((*entry).pszCode), copied((*entry).pszValue)) {
                words.insert(code, word);
            }
            entry = entry.add(1);
        }
    }
    words
}

/// The column in which the file keeps its row numbers, such as `OBJECTID`.
pub(super) fn row_number_field(layer: &Layer<'_>) -> Option<String> {
    // SAFETY: the layer is live; the text is its own and copied at once.
    unsafe { copied(gdal_sys::OGR_L_GetFIDColumn(layer.c_layer())) }.filter(|name| !name.is_empty())
}

/// The geometry of a feature as ISO well-known binary; `None` where it has none.
pub(super) fn wkb(feature: &Feature<'_>) -> Option<Vec<u8>> {
    // SAFETY: the feature is live and keeps the geometry; the buffer has exactly the size that GDAL asks for.
    unsafe {
        let geometry = gdal_sys::OGR_F_GetGeometryRef(feature.c_feature());
        if geometry.is_null() {
            return None;
        }
        let size = usize::try_from(gdal_sys::OGR_G_WkbSize(geometry)).ok()?;
        let mut bytes = vec![0u8; size];
        let code = gdal_sys::OGR_G_ExportToIsoWkb(geometry, gdal_sys::OGRwkbByteOrder::wkbNDR, bytes.as_mut_ptr());
        (code == gdal_sys::OGRErr::OGRERR_NONE).then_some(bytes)
    }
}

/// Keeps GDAL's own messages off the terminal; what matters is in our errors.
pub(super) fn silence() {
    // SAFETY: the quiet handler is GDAL's own, lives for ever and may be called from any thread.
    unsafe {
        gdal_sys::CPLSetErrorHandler(Some(gdal_sys::CPLQuietErrorHandler));
    }
}

/// Forgets earlier errors of this thread.
pub(super) fn forget_errors() {
    // SAFETY: takes nothing, changes only this thread's error state.
    unsafe { gdal_sys::CPLErrorReset() }
}

/// The last failure of this thread, not counting warnings.
pub(super) fn last_failure() -> Option<String> {
    // SAFETY: both only read this thread's error state; the text is copied at once.
    unsafe {
        if gdal_sys::CPLGetLastErrorType() < gdal_sys::CPLErr::CE_Failure {
            return None;
        }
        copied(gdal_sys::CPLGetLastErrorMsg())
    }
}
