//! Python objects to wire bytes.

use codemode_wire::{Encoder, MAX_DEPTH, MAX_SAFE_INTEGER};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::objects::{self, Stand};
use crate::path::{Refused, Step};
use crate::text::lossy;

/// One Python value as one wire value.
///
/// `TypeError` if something in it has no JSON form, `ValueError` for a cycle, too deep nesting or
/// more than `max_bytes` bytes; the messages have the path and the type of the culprit.
#[pyfunction]
#[pyo3(signature = (value, max_bytes = 64 << 20), text_signature = "(value, max_bytes=67108864)")]
pub(crate) fn encode<'py>(
    value: &Bound<'py, PyAny>,
    max_bytes: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    encode_noting(value, max_bytes).map(|(encoded, _)| encoded)
}

/// As [`encode`]; and whether it held a number that is not finite, which became null.
#[pyfunction]
pub(crate) fn encode_noting<'py>(
    value: &Bound<'py, PyAny>,
    max_bytes: usize,
) -> PyResult<(Bound<'py, PyBytes>, bool)> {
    let mut writer = Writer { wire: Encoder::new(), max_bytes, depth: 0, open: Vec::new() };
    writer.value(value).map_err(|refused| refused.into_py(value.py()))?;
    let not_finite = writer.wire.held_not_finite();
    Ok((PyBytes::new(value.py(), &writer.wire.into_bytes()), not_finite))
}

struct Writer {
    wire: Encoder,
    max_bytes: usize,
    /// Arrays and objects around the current value.
    depth: usize,
    /// Addresses of the Python objects around the current one, to find cycles.
    open: Vec<usize>,
}

impl Writer {
    fn value(&mut self, v: &Bound<'_, PyAny>) -> Result<(), Refused> {
        // Exact types, most frequent first; the rest is slower.
        if let Ok(s) = v.cast_exact::<PyString>() {
            self.string(s)?;
        } else if let Ok(i) = v.cast_exact::<PyInt>() {
            self.int(i)?;
        } else if let Ok(d) = v.cast_exact::<PyDict>() {
            self.dict(d)?;
        } else if let Ok(l) = v.cast_exact::<PyList>() {
            self.list(l)?;
        } else if v.is_none() {
            self.wire.null();
        } else if let Ok(b) = v.cast_exact::<PyBool>() {
            self.wire.bool(b.is_true());
        } else if let Ok(f) = v.cast_exact::<PyFloat>() {
            self.wire.number(f.value());
        } else {
            self.other(v)?;
        }
        self.room(0)
    }

    /// What is not exactly one of the plain types.
    #[inline(never)]
    fn other(&mut self, v: &Bound<'_, PyAny>) -> Result<(), Refused> {
        match objects::stand_for(v)? {
            Stand::Text(s) => self.string(&s),
            Stand::Int(i) => self.int(&i),
            Stand::Float(f) => {
                self.wire.number(f);
                Ok(())
            }
            Stand::Dict(d) => self.dict(&d),
            Stand::List(l) => self.list(&l),
            Stand::Tuple(t) => self.tuple(&t),
            Stand::Object(other) => self.inside(v, 0, |w| w.value(&other)),
        }
    }

    fn string(&mut self, s: &Bound<'_, PyString>) -> Result<(), Refused> {
        let text = lossy(s)?;
        self.room(text.len())?;
        self.wire.string(&text);
        Ok(())
    }

    fn int(&mut self, i: &Bound<'_, PyInt>) -> Result<(), Refused> {
        match i.extract::<i64>() {
            Ok(small) if small.unsigned_abs() <= MAX_SAFE_INTEGER.unsigned_abs() => {
                self.wire.int(small);
            }
            _ => {
                let digits = objects::digits(i)?;
                let digits = lossy(&digits)?;
                self.room(digits.len())?;
                self.wire.bigint(&digits);
            }
        }
        Ok(())
    }

    fn dict(&mut self, d: &Bound<'_, PyDict>) -> Result<(), Refused> {
        self.inside(d, 1, |w| {
            let mut open = w.wire.begin_object();
            let n = d.len();
            let mut members = d.iter();
            for _ in 0..n {
                // Methods of values run in between and may change the dict; the iterator would
                // panic on that.
                if d.len() != n {
                    return Err(Refused::changed());
                }
                let Some((key, value)) = members.next() else { return Err(Refused::changed()) };
                let text = objects::key(&key)?;
                let text = lossy(&text)?;
                w.room(text.len())?;
                w.wire.key(&mut open, &text);
                w.value(&value).map_err(|e| e.under(|| Step::Key(text.into_owned())))?;
            }
            w.wire.end(open);
            Ok(())
        })
    }

    fn list(&mut self, l: &Bound<'_, PyList>) -> Result<(), Refused> {
        self.inside(l, 1, |w| w.elements(l.len(), |i| l.get_item(i)))
    }

    fn tuple(&mut self, t: &Bound<'_, PyTuple>) -> Result<(), Refused> {
        self.inside(t, 1, |w| w.elements(t.len(), |i| t.get_item(i)))
    }

    /// `at` is asked for one element at a time: a list may shrink meanwhile.
    fn elements<'py>(
        &mut self,
        n: usize,
        at: impl Fn(usize) -> PyResult<Bound<'py, PyAny>>,
    ) -> Result<(), Refused> {
        let mut open = self.wire.begin_array();
        for i in 0..n {
            let item = at(i).map_err(|_| Refused::changed())?;
            self.wire.element(&mut open);
            self.value(&item).map_err(|e| e.under(|| Step::Index(i)))?;
        }
        self.wire.end(open);
        Ok(())
    }

    /// Does `write` for something that holds other things, `levels` of them on the wire.
    fn inside(
        &mut self,
        holder: &Bound<'_, PyAny>,
        levels: usize,
        write: impl FnOnce(&mut Self) -> Result<(), Refused>,
    ) -> Result<(), Refused> {
        let address = holder.as_ptr().addr();
        if self.open.contains(&address) {
            return Err(Refused::cycle(holder));
        }
        // Stand-ins take no level on the wire, but they take stack here.
        if self.depth + levels > MAX_DEPTH || self.open.len() >= 2 * MAX_DEPTH {
            return Err(Refused::depth(MAX_DEPTH));
        }
        self.depth += levels;
        self.open.push(address);
        write(self)?;
        self.open.pop();
        self.depth -= levels;
        Ok(())
    }

    fn room(&self, more: usize) -> Result<(), Refused> {
        let total = self.wire.len() + more;
        if total > self.max_bytes { Err(Refused::size(total, self.max_bytes)) } else { Ok(()) }
    }
}
