//! Thin ownership over raw engine values.
//!
//! Invariants that the `unsafe` blocks of this crate cite as J1…:
//! - J1: runtime and context are those of the template, alive as long as the process.
//! - J2: one thread (see [`crate::single`]).
//! - J3: a [`Js`] owns one reference; raw values passed as arguments are borrowed for the call.

#![allow(unsafe_code)]

use std::ffi::{CString, c_int};
use std::fmt::Write as _;

use rquickjs_sys as qjs;
pub(crate) use rquickjs_sys::{JSContext, JSValue};

use crate::vm::ctx;

/// One owned reference to a guest value.
pub(crate) struct Js(JSValue);

impl Drop for Js {
    fn drop(&mut self) {
        // SAFETY: J1, J3.
        unsafe { qjs::JS_FreeValue(ctx(), self.0) };
    }
}

impl Clone for Js {
    fn clone(&self) -> Self {
        Self::dup(self.0)
    }
}

/// The guest threw; the exception is pending in the context.
#[derive(Debug)]
pub(crate) struct Thrown;

pub(crate) const UNDEFINED: JSValue = qjs::JS_MKVAL(qjs::JS_TAG_UNDEFINED, 0);
pub(crate) const NULL: JSValue = qjs::JS_MKVAL(qjs::JS_TAG_NULL, 0);
pub(crate) const EXCEPTION: JSValue = qjs::JS_MKVAL(qjs::JS_TAG_EXCEPTION, 0);

impl Js {
    /// Takes over one reference.
    pub(crate) fn own(raw: JSValue) -> Self {
        Self(raw)
    }

    /// Takes over one reference, or reports the pending exception.
    pub(crate) fn check(raw: JSValue) -> Result<Self, Thrown> {
        // SAFETY: reads the tag only.
        if unsafe { qjs::JS_IsException(raw) } { Err(Thrown) } else { Ok(Self(raw)) }
    }

    /// A further reference to a borrowed value.
    pub(crate) fn dup(raw: JSValue) -> Self {
        // SAFETY: J1.
        Self(unsafe { qjs::JS_DupValue(ctx(), raw) })
    }

    pub(crate) fn raw(&self) -> JSValue {
        self.0
    }

    /// Gives the reference away.
    pub(crate) fn into_raw(self) -> JSValue {
        let raw = self.0;
        std::mem::forget(self);
        raw
    }

    pub(crate) fn string(text: &str) -> Self {
        // SAFETY: J1; the length is that of the slice.
        Self(unsafe { qjs::JS_NewStringLen(ctx(), text.as_ptr().cast(), text.len() as _) })
    }

    pub(crate) fn number(v: f64) -> Self {
        // SAFETY: J1.
        Self(unsafe { qjs::JS_NewNumber(ctx(), v) })
    }

    pub(crate) fn bool(v: bool) -> Self {
        Self(qjs::JS_MKVAL(qjs::JS_TAG_BOOL, i32::from(v)))
    }

    pub(crate) fn object() -> Self {
        // SAFETY: J1.
        Self(unsafe { qjs::JS_NewObject(ctx()) })
    }

    /// A property, getters included.
    pub(crate) fn get(&self, name: &str) -> Result<Self, Thrown> {
        let atom = Atom::new(name);
        // SAFETY: J1, J3.
        Self::check(unsafe { qjs::JS_GetProperty(ctx(), self.0, atom.0) })
    }

    /// Defines an own data property, never calling a setter.
    pub(crate) fn define(&self, name: &str, value: Self, flags: i32) {
        let atom = Atom::new(name);
        // SAFETY: J1, J3; the call takes the reference over.
        unsafe {
            qjs::JS_DefinePropertyValue(ctx(), self.0, atom.0, value.into_raw(), flags as c_int)
        };
    }

    pub(crate) fn call(&self, this: JSValue, args: &[JSValue]) -> Result<Self, Thrown> {
        // SAFETY: J1, J3; the engine only reads the arguments.
        Self::check(unsafe {
            qjs::JS_Call(ctx(), self.0, this, args.len() as c_int, args.as_ptr().cast_mut())
        })
    }

    /// `ToString` as UTF-8; a lone surrogate becomes U+FFFD.
    pub(crate) fn to_text(&self) -> Result<String, Thrown> {
        with_utf8(self.0, str::to_owned)
    }

    pub(crate) fn is_object(&self) -> bool {
        is_object(self.0)
    }

    pub(crate) fn is_undefined(&self) -> bool {
        // SAFETY: reads the tag only.
        unsafe { qjs::JS_IsUndefined(self.0) }
    }

    pub(crate) fn is_function(&self) -> bool {
        // SAFETY: J1.
        unsafe { qjs::JS_IsFunction(ctx(), self.0) }
    }
}

pub(crate) fn is_object(v: JSValue) -> bool {
    // SAFETY: reads the tag only.
    unsafe { qjs::JS_IsObject(v) }
}

pub(crate) fn pointer(v: JSValue) -> usize {
    // SAFETY: only called for values that carry a pointer.
    unsafe { qjs::JS_VALUE_GET_PTR(v) as usize }
}

/// Calls `f` with `ToString(v)`.
pub(crate) fn with_utf8<R>(v: JSValue, f: impl FnOnce(&str) -> R) -> Result<R, Thrown> {
    let mut len: qjs::size_t = 0;
    // SAFETY: J1; the C string lives until it is given back below.
    unsafe {
        let p = qjs::JS_ToCStringLen2(ctx(), &raw mut len, v, false);
        if p.is_null() {
            return Err(Thrown);
        }
        let bytes = std::slice::from_raw_parts(p.cast::<u8>(), len as usize);
        let out = match std::str::from_utf8(bytes) {
            Ok(text) => f(text),
            Err(_) => f(&replace_surrogates(bytes)),
        };
        qjs::JS_FreeCString(ctx(), p);
        Ok(out)
    }
}

/// The engine writes a lone surrogate as three bytes that are not UTF-8.
fn replace_surrogates(bytes: &[u8]) -> String {
    let mut fixed = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [first, tail @ ..] = rest {
        if *first == 0xED && tail.len() >= 2 && tail[0] >= 0xA0 {
            fixed.extend_from_slice("\u{FFFD}".as_bytes());
            rest = &rest[3..];
        } else {
            fixed.push(*first);
            rest = tail;
        }
    }
    String::from_utf8_lossy(&fixed).into_owned()
}

/// An owned property name.
pub(crate) struct Atom(pub(crate) qjs::JSAtom);

impl Atom {
    pub(crate) fn new(name: &str) -> Self {
        // SAFETY: J1; the length is that of the slice.
        Self(unsafe { qjs::JS_NewAtomLen(ctx(), name.as_ptr().cast(), name.len() as _) })
    }

    pub(crate) fn to_text(atom: qjs::JSAtom) -> String {
        // SAFETY: J1, J3.
        let value = Js::own(unsafe { qjs::JS_AtomToString(ctx(), atom) });
        value.to_text().unwrap_or_default()
    }
}

impl Drop for Atom {
    fn drop(&mut self) {
        // SAFETY: J1, J3.
        unsafe { qjs::JS_FreeAtom(ctx(), self.0) };
    }
}

/// Takes the pending exception.
pub(crate) fn take_exception() -> Js {
    // SAFETY: J1.
    Js::own(unsafe { qjs::JS_GetException(ctx()) })
}

/// Throws a `TypeError` and gives what a host function then returns.
pub(crate) fn throw_type_error(message: &str) -> JSValue {
    let text = CString::new(message.replace('\0', "\u{FFFD}")).unwrap_or_default();
    // SAFETY: J1; both strings are null-terminated; the message is data, not a format.
    unsafe { qjs::JS_ThrowTypeError(ctx(), c"%s".as_ptr(), text.as_ptr()) };
    EXCEPTION
}

/// A plain `Error` with this message, as the guest would make it.
pub(crate) fn new_error(message: &str) -> Js {
    let text = CString::new(message.replace('\0', "\u{FFFD}")).unwrap_or_default();
    // The engine formats into a buffer of 256 bytes, so the message is set afterwards.
    // SAFETY: J1; the format has no arguments.
    let error = Js::own(unsafe { qjs::JS_NewError(ctx()) });
    let flags = qjs::JS_PROP_WRITABLE | qjs::JS_PROP_CONFIGURABLE;
    error.define("message", Js::string(&text.to_string_lossy()), flags as i32);
    error
}

/// `a, b and c` for messages.
pub(crate) fn join(words: &[String]) -> String {
    let mut out = String::new();
    for (i, word) in words.iter().enumerate() {
        let glue = if i == 0 { "" } else { ", " };
        let _ = write!(out, "{glue}{word}");
    }
    out
}
