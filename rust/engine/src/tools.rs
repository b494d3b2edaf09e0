//! The `tools` object: helpers plus one function per unambiguous tool name, made when looked at.
//!
//! It is an exotic object so that a catalog of thousands costs nothing until a name is read.
//! `unsafe` blocks cite the invariants of [`crate::js`].
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_int;

use codemode_wire::{Decoder, Event, Fetch, FetchKind, WireError};
use rquickjs_sys as qjs;

use crate::bridge::Args;
use crate::js::{Atom, EXCEPTION, JSContext, JSValue, Js, Thrown, UNDEFINED, throw_type_error};
use crate::single::SingleThread;
use crate::vm::{self, ctx};

const HELPERS: [&str; 4] = ["search", "describe", "call", "callValue"];

/// Longest name that is remembered to explain that there is no such tool, bytes.
const MAX_MISSED: usize = 200;

enum Named {
    Tool(String),
    Clash(Vec<String>),
}

struct Names {
    by_name: HashMap<String, Named>,
    in_order: Vec<String>,
}

struct State {
    class: RefCell<qjs::JSClassID>,
    /// Helper functions; constant after the template is built.
    helpers: RefCell<Option<JSValue>>,
    /// Fetched at the first look in this process.
    names: RefCell<Option<Names>>,
}

static STATE: SingleThread<State> = SingleThread::new(State {
    class: RefCell::new(0),
    helpers: RefCell::new(None),
    names: RefCell::new(None),
});

static EXOTIC: qjs::JSClassExoticMethods = qjs::JSClassExoticMethods {
    get_own_property: Some(get_own_property),
    get_own_property_names: Some(get_own_property_names),
    delete_property: Some(delete_property),
    define_own_property: Some(define_own_property),
    has_property: None,
    get_property: None,
    set_property: Some(set_property),
};

/// `toolsObject(helpers)`: makes the object, once, in the template.
pub(crate) unsafe extern "C" fn make(
    _: *mut JSContext,
    _: JSValue,
    argc: c_int,
    argv: *mut JSValue,
) -> JSValue {
    let helpers = Args::new(argv, argc).at(0);
    // SAFETY: J1; the class definition is copied except for its static exotic table and name.
    unsafe {
        let rt = qjs::JS_GetRuntime(ctx());
        let mut class = 0;
        qjs::JS_NewClassID(rt, &raw mut class);
        let definition = qjs::JSClassDef {
            class_name: c"Tools".as_ptr(),
            finalizer: None,
            gc_mark: None,
            call: None,
            exotic: (&raw const EXOTIC).cast_mut(),
        };
        if qjs::JS_NewClass(rt, class, &raw const definition) < 0 {
            return EXCEPTION;
        }
        *STATE.get().class.borrow_mut() = class;
        *STATE.get().helpers.borrow_mut() = Some(Js::dup(helpers).into_raw());
        let object = qjs::JS_NewObjectProtoClass(ctx(), crate::js::NULL, class);
        qjs::JS_PreventExtensions(ctx(), object);
        object
    }
}

fn with_names<R>(f: impl FnOnce(&Names) -> R) -> Result<R, WireError> {
    let cached = STATE.get().names.borrow().is_some();
    if !cached {
        let bytes = vm::fetch(&Fetch { kind: FetchKind::Names, argument: String::new() });
        let names = read_names(&bytes)?;
        *STATE.get().names.borrow_mut() = Some(names);
    }
    let names = STATE.get().names.borrow();
    Ok(f(names.as_ref().expect("just filled")))
}

fn read_names(bytes: &[u8]) -> Result<Names, WireError> {
    const BAD: WireError = WireError::Malformed("tool names");
    let text = |e| if let Event::String(s) = e { Ok(s.to_owned()) } else { Err(BAD) };
    let mut d = Decoder::new(bytes);
    let Event::Array(n) = d.next_event()? else { return Err(BAD) };
    let mut names = Names { by_name: HashMap::with_capacity(n), in_order: Vec::with_capacity(n) };
    for _ in 0..n {
        let Event::Array(parts) = d.next_event()? else { return Err(BAD) };
        let name = text(d.next_event()?)?;
        match (parts, d.next_event()?) {
            (2, Event::String(id)) => {
                names.in_order.push(name.clone());
                names.by_name.insert(name, Named::Tool(id.to_owned()));
            }
            (3, Event::Null) => {
                let Event::Array(k) = d.next_event()? else { return Err(BAD) };
                let ids = (0..k).map(|_| text(d.next_event()?)).collect::<Result<_, _>>()?;
                names.by_name.insert(name, Named::Clash(ids));
            }
            _ => return Err(BAD),
        }
    }
    Ok(names)
}

/// The value of an own property, if there is one.
fn lookup(prop: qjs::JSAtom) -> Result<Option<Js>, Thrown> {
    // SAFETY: J1, J3.
    let key = Js::own(unsafe { qjs::JS_AtomToValue(ctx(), prop) });
    // SAFETY: reads the tag only.
    if !unsafe { qjs::JS_IsString(key.raw()) } {
        // Symbol.toPrimitive and Symbol.toStringTag are on the helpers, which have no prototype.
        let helpers = STATE.get().helpers.borrow().unwrap_or(UNDEFINED);
        // SAFETY: J1, J3.
        let found = Js::check(unsafe { qjs::JS_GetProperty(ctx(), helpers, prop) })?;
        return Ok((!found.is_undefined()).then_some(found));
    }
    let name = key.to_text()?;
    if HELPERS.contains(&name.as_str()) {
        let helpers = Js::dup(STATE.get().helpers.borrow().unwrap_or(UNDEFINED));
        return helpers.get(&name).map(Some);
    }
    let found = with_names(|names| match names.by_name.get(&name) {
        Some(Named::Tool(id)) => Some(id.clone()),
        _ => None,
    });
    let id = match found {
        Ok(Some(id)) => id,
        Ok(None) => {
            let asked_by_engine =
                matches!(name.as_str(), "then" | "toJSON" | "constructor" | "toString" | "valueOf");
            if !asked_by_engine && name.len() <= MAX_MISSED {
                remember(name);
            }
            return Ok(None);
        }
        Err(e) => {
            throw_type_error(&format!("the tool names could not be read: {e}"));
            return Err(Thrown);
        }
    };
    if let Some(f) = vm::cell(|c| c.tool_functions.get(&id).copied()) {
        return Ok(Some(Js::dup(f)));
    }
    let id_value = Js::string(&id);
    let f = vm::helper("toolCaller").call(UNDEFINED, &[id_value.raw()])?;
    f.define("name", Js::string(&name), qjs::JS_PROP_CONFIGURABLE as i32);
    // SAFETY: J1, J3.
    unsafe { qjs::JS_FreezeObject(ctx(), f.raw()) };
    vm::cell(|c| c.tool_functions.insert(id, f.clone().into_raw()));
    Ok(Some(f))
}

unsafe extern "C" fn get_own_property(
    _: *mut JSContext,
    desc: *mut qjs::JSPropertyDescriptor,
    _: JSValue,
    prop: qjs::JSAtom,
) -> c_int {
    match lookup(prop) {
        Ok(Some(value)) => {
            if !desc.is_null() {
                // SAFETY: the engine gives room for one descriptor and takes the value over.
                unsafe {
                    desc.write(qjs::JSPropertyDescriptor {
                        flags: qjs::JS_PROP_ENUMERABLE as c_int,
                        value: value.into_raw(),
                        getter: UNDEFINED,
                        setter: UNDEFINED,
                    });
                }
            }
            1
        }
        Ok(None) => 0,
        Err(Thrown) => -1,
    }
}

unsafe extern "C" fn get_own_property_names(
    _: *mut JSContext,
    table: *mut *mut qjs::JSPropertyEnum,
    len: *mut u32,
    _: JSValue,
) -> c_int {
    let Ok(names) = with_names(|n| {
        HELPERS
            .iter()
            .map(|h| (*h).to_owned())
            .chain(n.in_order.iter().cloned())
            .collect::<Vec<_>>()
    }) else {
        throw_type_error("the tool names could not be read");
        return -1;
    };
    let bytes = names.len() * size_of::<qjs::JSPropertyEnum>();
    // SAFETY: J1; the engine frees the table and the atoms; it is written up to its length.
    unsafe {
        let block = qjs::js_malloc(ctx(), bytes as _).cast::<qjs::JSPropertyEnum>();
        if block.is_null() {
            return -1;
        }
        for (i, name) in names.iter().enumerate() {
            let atom = Atom::new(name);
            block.add(i).write(qjs::JSPropertyEnum { is_enumerable: true, atom: atom.0 });
            std::mem::forget(atom);
        }
        table.write(block);
        len.write(names.len() as u32);
    }
    0
}

unsafe extern "C" fn delete_property(_: *mut JSContext, _: JSValue, _: qjs::JSAtom) -> c_int {
    0
}

/// Changes nothing, but grants what is so already: `Object.freeze(tools)` defines every property as
/// it is.
unsafe extern "C" fn define_own_property(
    _: *mut JSContext,
    _: JSValue,
    prop: qjs::JSAtom,
    value: JSValue,
    _: JSValue,
    _: JSValue,
    flags: c_int,
) -> c_int {
    let has = |flag: u32| flags & flag as c_int != 0;
    let changes = has(qjs::JS_PROP_HAS_GET)
        || has(qjs::JS_PROP_HAS_SET)
        || (has(qjs::JS_PROP_HAS_CONFIGURABLE) && has(qjs::JS_PROP_CONFIGURABLE))
        || (has(qjs::JS_PROP_HAS_WRITABLE) && has(qjs::JS_PROP_WRITABLE))
        || (has(qjs::JS_PROP_HAS_ENUMERABLE) && !has(qjs::JS_PROP_ENUMERABLE));
    if changes {
        return refuse_change(flags);
    }
    match lookup(prop) {
        // SAFETY: J1, J3.
        Ok(Some(found))
            if !has(qjs::JS_PROP_HAS_VALUE)
                || unsafe { qjs::JS_IsSameValue(ctx(), found.raw(), value) } =>
        {
            1
        }
        Ok(_) => refuse_change(flags),
        Err(Thrown) => -1,
    }
}

unsafe extern "C" fn set_property(
    _: *mut JSContext,
    _: JSValue,
    _: qjs::JSAtom,
    _: JSValue,
    _: JSValue,
    flags: c_int,
) -> c_int {
    refuse_change(flags)
}

fn refuse_change(flags: c_int) -> c_int {
    if flags & (qjs::JS_PROP_THROW | qjs::JS_PROP_THROW_STRICT) as c_int != 0 {
        throw_type_error("tools is read-only");
        return -1;
    }
    0
}

/// Whether `tools.<name>` can be called.
pub(crate) fn has(name: &str) -> bool {
    HELPERS.contains(&name)
        || with_names(|n| matches!(n.by_name.get(name), Some(Named::Tool(_)))).unwrap_or_default()
}

/// In front of a missed name that is the explanation itself.
const EXPLAINED: char = '\0';

fn remember(missed: String) {
    vm::cell(|c| {
        c.missed_names.retain(|n| *n != missed);
        c.missed_names.push(missed);
        if c.missed_names.len() > 8 {
            c.missed_names.remove(0);
        }
    });
}

/// Remembers what to say of `<place>.<name>`, a part of `MCP` that was read and does not exist.
/// `names` are those that do, one a line; `reason` is why there are none.
pub(crate) fn miss_mcp(place: &str, name: &str, names: &str, reason: &str) {
    if name.len() > MAX_MISSED {
        return;
    }
    let names: Vec<String> = names.lines().map(str::to_owned).collect();
    let close = close_names(name, &names);
    let known = match (&*close, &*names) {
        ([], []) => "It has no tools".into(),
        ([], [..]) => format!("There are: {}", crate::js::join(&names[..names.len().min(8)])),
        ([..], _) => format!("Close names: {}", crate::js::join(&close)),
    };
    let text = if reason.is_empty() {
        format!(
            "there is no {place}.{name}. {known}. Find tools with await tools.search(\"words\")"
        )
    } else {
        format!("MCP server {place} is unavailable: {reason}")
    };
    remember(format!("{EXPLAINED}{text}"));
}

/// What to say of `tools.<name>` that was read and does not exist.
pub(crate) fn explain_missed(name: &str) -> String {
    if let Some(text) = name.strip_prefix(EXPLAINED) {
        return text.to_owned();
    }
    let clash = with_names(|n| match n.by_name.get(name) {
        Some(Named::Clash(ids)) => Some(ids.clone()),
        _ => None,
    });
    if let Ok(Some(ids)) = clash {
        let ids: Vec<String> = ids.iter().map(|id| format!("{id:?}")).collect();
        return format!(
            "tools.{name} is ambiguous: call tools.callValue(id, input) with one of {}",
            crate::js::join(&ids)
        );
    }
    let is_id =
        |n: &Names| n.by_name.values().any(|named| matches!(named, Named::Tool(id) if id == name));
    if with_names(is_id).unwrap_or_default() {
        return format!("{name:?} is an id: write tools.callValue({name:?}, input)");
    }
    let close = with_names(|n| close_names(name, &n.in_order)).unwrap_or_default();
    let hint = if close.is_empty() {
        String::new()
    } else {
        format!("Close names: {}. ", crate::js::join(&close))
    };
    format!("there is no tools.{name}. {hint}Find tools with await tools.search(\"words\")")
}

/// Names that share most with `wanted`, best first, at most three.
fn close_names(wanted: &str, names: &[String]) -> Vec<String> {
    let pairs = |s: &str| -> Vec<(char, char)> {
        let chars: Vec<char> = s.to_lowercase().chars().collect();
        chars.windows(2).map(|w| (w[0], w[1])).collect()
    };
    let want = pairs(wanted);
    let mut scored: Vec<(usize, &String)> = names
        .iter()
        .filter_map(|name| {
            let have = pairs(name);
            let shared = have.iter().filter(|p| want.contains(p)).count();
            (shared * 2 >= want.len().max(1))
                .then(|| (shared * 1000 / (have.len() + want.len()), name))
        })
        .collect();
    scored.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    scored.into_iter().take(3).map(|(_, n)| n.clone()).collect()
}

/// Forgets the fetched names: for tests that start several cells in one process.
pub(crate) fn forget_names() {
    *STATE.get().names.borrow_mut() = None;
}
