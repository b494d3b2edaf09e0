//! Guest values to wire values and back: the table of gst.4.
//!
//! `unsafe` blocks cite the invariants of [`crate::js`].
#![allow(unsafe_code)]

use std::ptr;

use codemode_wire::{Decoder, Encoder, Event, MAX_DEPTH, MAX_VALUES, WireError};
use rquickjs_sys as qjs;

use crate::js::{Atom, JSValue, Js, Thrown, is_object, pointer, take_exception, with_utf8};
use crate::vm::{self, ctx};

/// Why a value did not cross.
#[derive(Debug)]
pub(crate) enum Refused {
    /// A getter or trap of the guest threw; the exception is pending.
    Thrown,
    /// The budget was used up; this many bytes of JSON were written by then.
    Budget,
    /// A value that has no JSON form: the text names the path.
    Shape(String),
}

impl From<Thrown> for Refused {
    fn from(_: Thrown) -> Self {
        Self::Thrown
    }
}

/// What the model should know of a conversion that succeeded.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) not_finite: bool,
    pub(crate) not_awaited: bool,
    pub(crate) iterator: bool,
    /// How many. Only told of inputs: where a value is shown, its text says what it is.
    pub(crate) functions: u32,
}

impl Notes {
    pub(crate) fn warnings(&self, of: &str) -> Vec<String> {
        let mut out = Vec::new();
        if self.not_finite {
            out.push(format!("{of} held NaN or an infinity, which became null"));
        }
        if self.not_awaited {
            out.push(format!(
                "{of} held a promise that was not awaited; it became null. Write `await` before the call, or `await Promise.all([...])`"
            ));
        }
        if self.iterator {
            out.push(format!(
                "{of} held an iterator, which became {{}}; make it an array with `[...it]`"
            ));
        }
        out
    }
}

/// Values of one frame that are left for what wraps output items and stands for what was cut.
const RESERVE: usize = 64;

enum Step {
    Key(String),
    Index(u64),
}

struct Walk<'a> {
    out: &'a mut Encoder,
    budget: u64,
    /// Values that may be written.
    most: usize,
    notes: Notes,
    /// Objects from the root to here, and how each was reached.
    path: Vec<(usize, Step)>,
    /// Set in truncating mode: strings are cut and containers closed at the budget.
    truncate: bool,
}

/// Writes `value` to `out`; fails once `out` holds more than `budget` bytes of JSON.
pub(crate) fn encode(value: JSValue, out: &mut Encoder, budget: u64) -> Result<Notes, Refused> {
    let mut walk = Walk::new(out, budget, false);
    walk.value(value, None)?;
    walk.check()?;
    Ok(walk.notes)
}

/// Writes a prefix of `value` that takes at most `budget` bytes of JSON: strings are cut,
/// arrays and objects end early, with the structure kept valid.
pub(crate) fn encode_prefix(
    value: JSValue,
    out: &mut Encoder,
    budget: u64,
) -> Result<Notes, Refused> {
    let mut walk = Walk::new(out, budget, true);
    walk.value(value, None)?;
    Ok(walk.notes)
}

impl<'a> Walk<'a> {
    fn new(out: &'a mut Encoder, budget: u64, truncate: bool) -> Self {
        let most = vm::cell(|c| MAX_VALUES.saturating_sub(RESERVE + c.turn_values));
        Self { out, budget, most, notes: Notes::default(), path: Vec::new(), truncate }
    }

    fn check(&self) -> Result<(), Refused> {
        if vm::stopped() {
            return Err(Refused::Thrown);
        }
        if !self.truncate && self.out.json_len() > self.budget {
            return Err(Refused::Budget);
        }
        if self.out.values() > self.most {
            return Err(Refused::Shape(format!(
                "more than {MAX_VALUES} values at once; send fewer, or one text"
            )));
        }
        Ok(())
    }

    /// In truncating mode: whether the next element may still be begun.
    fn full(&self) -> bool {
        self.truncate
            && (self.out.json_len() + 16 > self.budget || self.out.values() + 1 >= self.most)
    }

    /// What may still be written, in bytes of JSON: without limit where the whole is refused.
    fn room(&self) -> u64 {
        if self.truncate { self.budget.saturating_sub(self.out.json_len()) } else { u64::MAX }
    }

    /// In truncating mode: whether a member of this name may still be begun.
    fn fits(&self, key: &str) -> bool {
        !self.truncate || codemode_wire::value::json_string_len(key) + 16 <= self.room()
    }

    fn string(&mut self, text: &str) {
        if self.truncate {
            self.out.string(prefix(text, self.room()));
        } else if self.out.json_len() + text.len() as u64 <= self.budget {
            self.out.string(text);
        } else {
            // Not copied: the next check refuses the whole value.
            self.out.overrun(text.len() as u64 + 2);
        }
    }

    fn value(&mut self, v: JSValue, step: Option<Step>) -> Result<(), Refused> {
        self.check()?;
        // SAFETY: J1; each accessor is used for its own tag only.
        unsafe {
            match qjs::JS_VALUE_GET_NORM_TAG(v) {
                qjs::JS_TAG_INT => self.out.int(i64::from(qjs::JS_VALUE_GET_INT(v))),
                qjs::JS_TAG_FLOAT64 => {
                    let n = qjs::JS_VALUE_GET_FLOAT64(v);
                    self.notes.not_finite |= !n.is_finite();
                    self.out.number(n);
                }
                qjs::JS_TAG_BOOL => self.out.bool(qjs::JS_VALUE_GET_BOOL(v)),
                qjs::JS_TAG_STRING | qjs::JS_TAG_STRING_ROPE => {
                    with_utf8(v, |text| self.string(text))?;
                }
                qjs::JS_TAG_BIG_INT | qjs::JS_TAG_SHORT_BIG_INT => {
                    let room = self.room();
                    let written = with_utf8(v, |digits| {
                        if digits.len() as u64 > room {
                            // A part of a number is another number.
                            self.out.null();
                            return true;
                        }
                        bigint(self.out, digits)
                    })?;
                    if !written {
                        return Err(Refused::Shape(format!(
                            "an integer of more than {MAX_DIGITS} digits; send it as a string"
                        )));
                    }
                }
                qjs::JS_TAG_SYMBOL => {
                    let text = vm::helper("symbolText").call(crate::js::UNDEFINED, &[v])?;
                    with_utf8(text.raw(), |t| self.string(t))?;
                }
                qjs::JS_TAG_OBJECT => {
                    let me = pointer(v);
                    if self.path.iter().any(|(p, _)| *p == me) {
                        return Err(self.cycle(me, step));
                    }
                    if self.path.len() >= MAX_DEPTH {
                        return Err(Refused::Shape(format!(
                            "the value is nested deeper than {MAX_DEPTH} levels; return a flatter value"
                        )));
                    }
                    self.path.push((me, step.unwrap_or(Step::Key(String::new()))));
                    self.object(v)?;
                    self.path.pop();
                }
                _ => self.out.null(),
            }
        }
        Ok(())
    }

    fn object(&mut self, v: JSValue) -> Result<(), Refused> {
        // SAFETY: J1; the predicates only look at the class of the object.
        unsafe {
            if qjs::JS_IsArray(v) {
                return self.array(v);
            }
            if qjs::JS_IsFunction(ctx(), v) {
                let text = vm::helper("functionText").call(crate::js::UNDEFINED, &[v])?;
                with_utf8(text.raw(), |t| self.string(t))?;
                self.notes.functions += 1;
                return Ok(());
            }
            if qjs::JS_IsPromise(v) {
                self.notes.not_awaited = true;
                self.out.null();
                return Ok(());
            }
            if qjs::JS_IsProxy(v) {
                return if is_array(v)? { self.array(v) } else { self.members(v) };
            }
            if qjs::JS_IsDate(v) {
                return self.converted("dateText", v);
            }
            if qjs::JS_IsError(v) {
                return self.error(v);
            }
            if qjs::JS_IsMap(v) {
                return self.map(v);
            }
            if qjs::JS_IsSet(v)
                || qjs::JS_GetTypedArrayType(v) >= 0
                || qjs::JS_IsArrayBuffer(v)
                || qjs::JS_IsDataView(v)
            {
                let list = vm::helper("toList").call(crate::js::UNDEFINED, &[v])?;
                return self.array(list.raw());
            }
            if qjs::JS_IsRegExp(v) || vm::is_boxed(v) {
                return self.converted("unbox", v);
            }
        }
        if vm::is_url(v) {
            return self.converted("urlText", v);
        }
        self.members(v)
    }

    /// Writes what a prelude helper makes of `v`, a primitive.
    fn converted(&mut self, helper: &str, v: JSValue) -> Result<(), Refused> {
        let made = vm::helper(helper).call(crate::js::UNDEFINED, &[v])?;
        if made.is_undefined() || is_object(made.raw()) {
            return self.members(v);
        }
        // A primitive cannot recurse.
        self.value(made.raw(), None)
    }

    fn array(&mut self, v: JSValue) -> Result<(), Refused> {
        let mut len = 0i64;
        // SAFETY: J1, J3.
        if unsafe { qjs::JS_GetLength(ctx(), v, &raw mut len) } < 0 {
            return Err(Refused::Thrown);
        }
        let mut open = self.out.begin_array();
        for i in 0..len {
            if self.full() {
                break;
            }
            self.out.element(&mut open);
            // SAFETY: J1, J3.
            let item = Js::check(unsafe { qjs::JS_GetPropertyInt64(ctx(), v, i) })?;
            self.value(item.raw(), Some(Step::Index(i as u64)))?;
        }
        self.out.end(open);
        Ok(())
    }

    fn members(&mut self, v: JSValue) -> Result<(), Refused> {
        let names = OwnNames::of(v)?;
        if names.len == 0 {
            let error = vm::helper("domError").call(crate::js::UNDEFINED, &[v])?;
            if error.is_object() {
                return self.members(error.raw());
            }
            let next = Js::dup(v).get("next")?;
            // SAFETY: J1; looks at the class only.
            self.notes.iterator |= unsafe { qjs::JS_IsFunction(ctx(), next.raw()) };
        }
        let mut open = self.out.begin_object();
        for atom in names.atoms() {
            if self.full() {
                break;
            }
            // SAFETY: J1, J3.
            let item = Js::check(unsafe { qjs::JS_GetProperty(ctx(), v, atom) })?;
            if item.is_undefined() {
                continue;
            }
            let key = Atom::to_text(atom);
            if !self.fits(&key) {
                break;
            }
            self.out.key(&mut open, &key);
            self.value(item.raw(), Some(Step::Key(key)))?;
        }
        self.out.end(open);
        Ok(())
    }

    fn error(&mut self, v: JSValue) -> Result<(), Refused> {
        let error = Js::dup(v);
        let mut open = self.out.begin_object();
        for name in ["name", "message"] {
            let text = error.get(name)?;
            self.out.key(&mut open, name);
            with_utf8(text.raw(), |t| self.string(t))?;
        }
        let mut names: Vec<String> =
            OwnNames::of(v)?.atoms().map(Atom::to_text).collect::<Vec<_>>();
        for hidden in ["cause", "errors"] {
            let own = error.get(hidden)?;
            if !own.is_undefined() && !names.iter().any(|n| n == hidden) {
                names.push(hidden.to_owned());
            }
        }
        for name in names {
            if matches!(name.as_str(), "name" | "message" | "stack") {
                continue;
            }
            let item = error.get(&name)?;
            if !self.fits(&name) {
                break;
            }
            if !item.is_undefined() {
                self.out.key(&mut open, &name);
                self.value(item.raw(), Some(Step::Key(name)))?;
            }
        }
        self.out.end(open);
        Ok(())
    }

    fn map(&mut self, v: JSValue) -> Result<(), Refused> {
        let flat = vm::helper("mapPairs").call(crate::js::UNDEFINED, &[v])?;
        let mut len = 0i64;
        // SAFETY: J1, J3; the helper gives a plain array `[key, value, key, value, …]`.
        let at = |i: i64| Js::check(unsafe { qjs::JS_GetPropertyInt64(ctx(), flat.raw(), i) });
        // SAFETY: J1, J3.
        if unsafe { qjs::JS_GetLength(ctx(), flat.raw(), &raw mut len) } < 0 {
            return Err(Refused::Thrown);
        }
        let mut strings = true;
        for i in (0..len).step_by(2) {
            // SAFETY: reads the tag only.
            strings &= unsafe { qjs::JS_IsString(at(i)?.raw()) };
        }
        if strings {
            let mut open = self.out.begin_object();
            for i in (0..len).step_by(2) {
                if self.full() {
                    break;
                }
                let key = at(i)?.to_text()?;
                if !self.fits(&key) {
                    break;
                }
                self.out.key(&mut open, &key);
                self.value(at(i + 1)?.raw(), Some(Step::Key(key)))?;
            }
            self.out.end(open);
            return Ok(());
        }
        let mut open = self.out.begin_array();
        for i in (0..len).step_by(2) {
            if self.full() {
                break;
            }
            self.out.element(&mut open);
            let mut pair = self.out.begin_array();
            for part in [i, i + 1] {
                self.out.element(&mut pair);
                self.value(at(part)?.raw(), Some(Step::Index((i / 2) as u64)))?;
            }
            self.out.end(pair);
        }
        self.out.end(open);
        Ok(())
    }

    fn cycle(&self, object: usize, last: Option<Step>) -> Refused {
        let mut here = String::from("$");
        let mut target = String::from("$");
        for (i, (p, step)) in self.path.iter().enumerate() {
            if i > 0 {
                push_step(&mut here, step);
            }
            if *p == object {
                target.clone_from(&here);
            }
        }
        if let Some(step) = &last {
            push_step(&mut here, step);
        }
        Refused::Shape(format!(
            "the value refers to itself: {here} is {target} again; return a value without cycles"
        ))
    }
}

/// Whether the language takes a proxy for an array: it does if its target is one.
fn is_array(proxy: JSValue) -> Result<bool, Refused> {
    let mut target = Js::dup(proxy);
    // SAFETY: J1, J3; a revoked one throws.
    unsafe {
        while qjs::JS_IsProxy(target.raw()) {
            target = Js::check(qjs::JS_GetProxyTarget(ctx(), target.raw()))?;
        }
        Ok(qjs::JS_IsArray(target.raw()))
    }
}

fn push_step(path: &mut String, step: &Step) {
    use std::fmt::Write as _;
    let _ = match step {
        Step::Index(i) => write!(path, "[{i}]"),
        Step::Key(k) => write!(path, ".{}", k.chars().take(80).collect::<String>()),
    };
}

/// Most digits of an integer: more than this Python does not read either.
const MAX_DIGITS: usize = 4300;

/// Writes an integer; false if it has too many digits.
fn bigint(out: &mut Encoder, digits: &str) -> bool {
    match digits.parse::<i64>() {
        Ok(n) if n.unsigned_abs() <= codemode_wire::MAX_SAFE_INTEGER.unsigned_abs() => out.int(n),
        _ if digits.trim_start_matches('-').len() > MAX_DIGITS => return false,
        _ => out.bigint(digits),
    }
    true
}

/// The longest prefix of `text` that takes at most `room` bytes as a JSON string.
pub(crate) fn prefix(text: &str, room: u64) -> &str {
    let mut used = 2u64;
    for (at, c) in text.char_indices() {
        let mut buf = [0; 4];
        used += codemode_wire::value::json_string_len(c.encode_utf8(&mut buf)) - 2;
        if used > room {
            return &text[..at];
        }
    }
    text
}

/// Own enumerable string keys, as the engine lists them.
struct OwnNames {
    table: *mut qjs::JSPropertyEnum,
    len: u32,
}

impl OwnNames {
    fn of(v: JSValue) -> Result<Self, Thrown> {
        let mut names = Self { table: ptr::null_mut(), len: 0 };
        let flags = (qjs::JS_GPN_STRING_MASK | qjs::JS_GPN_ENUM_ONLY) as i32;
        // SAFETY: J1, J3.
        let status = unsafe {
            qjs::JS_GetOwnPropertyNames(ctx(), &raw mut names.table, &raw mut names.len, v, flags)
        };
        if status < 0 { Err(Thrown) } else { Ok(names) }
    }

    fn atoms(&self) -> impl Iterator<Item = qjs::JSAtom> {
        // SAFETY: the engine filled `len` entries; index stays below.
        (0..self.len as usize).map(|i| unsafe { (*self.table.add(i)).atom })
    }
}

impl Drop for OwnNames {
    fn drop(&mut self) {
        if !self.table.is_null() {
            // SAFETY: J1; the table came from the engine and is given back once.
            unsafe { qjs::JS_FreePropertyEnum(ctx(), self.table, self.len) };
        }
    }
}

/// Makes the guest value of one wire value.
pub(crate) fn decode(bytes: &[u8]) -> Result<Js, DecodeError> {
    let mut decoder = Decoder::new(bytes);
    let value = read(&mut decoder, 0)?;
    if decoder.is_done() { Ok(value) } else { Err(WireError::Truncated.into()) }
}

/// Why a wire value did not become a guest value.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DecodeError {
    #[error(transparent)]
    Wire(#[from] WireError),
    /// Out of memory, or stopped; the sticky flags say which.
    #[error("the engine refused the value")]
    Engine,
}

impl From<Thrown> for DecodeError {
    fn from(_: Thrown) -> Self {
        drop(take_exception());
        Self::Engine
    }
}

fn read(d: &mut Decoder<'_>, depth: usize) -> Result<Js, DecodeError> {
    if depth > MAX_DEPTH + 2 {
        return Err(WireError::TooDeep.into());
    }
    Ok(match d.next_event()? {
        Event::Null => Js::own(crate::js::NULL),
        Event::Bool(v) => Js::bool(v),
        #[allow(clippy::cast_precision_loss)]
        Event::Int(v) => match i32::try_from(v) {
            Ok(small) => Js::own(qjs::JS_MKVAL(qjs::JS_TAG_INT, small)),
            Err(_) => Js::number(v as f64),
        },
        Event::Float(v) => Js::number(v),
        Event::BigInt(digits) => {
            let text = Js::string(digits);
            vm::helper("BigInt").call(crate::js::UNDEFINED, &[text.raw()])?
        }
        Event::String(text) => {
            let v = Js::string(text);
            Js::check(v.into_raw())?
        }
        Event::Array(n) => {
            // SAFETY: J1.
            let array = Js::check(unsafe { qjs::JS_NewArray(ctx()) })?;
            for i in 0..n {
                let item = read(d, depth + 1)?;
                // SAFETY: J1, J3; takes the item over, defines, calls no setter.
                let status = unsafe {
                    qjs::JS_DefinePropertyValueUint32(
                        ctx(),
                        array.raw(),
                        i as u32,
                        item.into_raw(),
                        qjs::JS_PROP_C_W_E as i32,
                    )
                };
                if status < 0 {
                    return Err(Thrown.into());
                }
            }
            array
        }
        Event::Object(n) => {
            let object = Js::check(Js::object().into_raw())?;
            for _ in 0..n {
                let key = Atom::new(d.key()?);
                let item = read(d, depth + 1)?;
                // SAFETY: J1, J3; `__proto__` becomes an own property like any other.
                let status = unsafe {
                    qjs::JS_DefinePropertyValue(
                        ctx(),
                        object.raw(),
                        key.0,
                        item.into_raw(),
                        qjs::JS_PROP_C_W_E as i32,
                    )
                };
                if status < 0 {
                    return Err(Thrown.into());
                }
            }
            object
        }
    })
}
