//! Text from Python, which unlike Rust and the wire may hold lone surrogates.

use std::borrow::Cow;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// The text of `s`; lone surrogates become U+FFFD, a high one before a low one the character
/// that they stand for, as a JavaScript engine would read them.
pub(crate) fn lossy<'a>(s: &'a Bound<'_, PyString>) -> PyResult<Cow<'a, str>> {
    match s.to_str() {
        Ok(text) => Ok(Cow::Borrowed(text)),
        Err(_) => with_surrogates(s).map(Cow::Owned),
    }
}

#[cold]
fn with_surrogates(s: &Bound<'_, PyString>) -> PyResult<String> {
    let bytes = s.call_method1("encode", ("utf-16-le", "surrogatepass"))?;
    let bytes = bytes.cast::<PyBytes>()?.as_bytes();
    let units = bytes.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
    Ok(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}
