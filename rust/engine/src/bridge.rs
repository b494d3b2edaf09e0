//! Host functions of the prelude: plain `extern "C"` functions without captured state.
//!
//! `unsafe` blocks cite the invariants of [`crate::js`].
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};

use codemode_wire::{
    Encoder, Fetch, FetchKind, MAX_HELD, MAX_OUTSTANDING, MAX_TARGET, MAX_VALUES, Request, Tag,
};
use rquickjs_sys as qjs;

use crate::cell::Call;
use crate::failure;
use crate::js::{
    EXCEPTION, JSContext, JSValue, Js, UNDEFINED, new_error, take_exception, throw_type_error,
    with_utf8,
};
use crate::values::{self, Refused};
use crate::vm::{self, Stop, ctx};

/// Most bytes of encoded arguments that one turn may dispatch.
const MAX_TURN_INPUT: usize = 16 << 20;
/// Values of one output item besides the item's own value.
const ITEM_VALUES: usize = 4;
/// Most timers that one cell may have.
const MAX_TIMERS: usize = 10_000;
/// Most unhandled rejections that are remembered, and most output items.
const MAX_REJECTIONS: usize = 64;

type HostFunction = unsafe extern "C" fn(*mut JSContext, JSValue, c_int, *mut JSValue) -> JSValue;

/// The functions on the `host` object that prelude files receive.
pub(crate) const FUNCTIONS: &[(&core::ffi::CStr, HostFunction)] = &[
    (c"text", text),
    (c"json", json),
    (c"call", call),
    (c"yieldControl", yield_control),
    (c"schedule", schedule),
    (c"cancel", cancel),
    (c"now", now),
    (c"monotonic", monotonic),
    (c"random", random),
    (c"utf8Encode", utf8_encode),
    (c"utf8Decode", utf8_decode),
    (c"fetch", fetch),
    (c"quote", quote),
    (c"missed", missed),
    (c"stack", stack),
    (c"toolsObject", crate::tools::make),
];

/// The arguments of a host function, undefined beyond those given.
pub(crate) struct Args(*mut JSValue, c_int);

impl Args {
    pub(crate) fn new(argv: *mut JSValue, argc: c_int) -> Self {
        Self(argv, argc)
    }

    pub(crate) fn at(&self, i: c_int) -> JSValue {
        // SAFETY: the engine passes `argc` values.
        if i < self.1 { unsafe { *self.0.add(i as usize) } } else { UNDEFINED }
    }
}

fn text_of(v: JSValue) -> Option<String> {
    // SAFETY: reads the tag only.
    unsafe { qjs::JS_IsString(v) }.then(|| with_utf8(v, str::to_owned).ok()).flatten()
}

// ---- output ----

unsafe extern "C" fn text(
    _: *mut JSContext,
    _: JSValue,
    argc: c_int,
    argv: *mut JSValue,
) -> JSValue {
    let args = Args(argv, argc);
    let (mut text, mut len) = match rendered(args.at(0)) {
        Ok(rendered) => rendered,
        Err(refused) => return refuse(refused, "text(value)"),
    };
    for i in 1..argc {
        let (more, more_len) = match rendered(args.at(i)) {
            Ok(rendered) => rendered,
            Err(refused) => return refuse(refused, "text(value)"),
        };
        // What follows a cut is not shown, but counted.
        if text.len() as u64 == len {
            text.extend([" ", &more]);
        }
        len += 1 + more_len;
    }
    add_output(Item::Text(&text, len))
}

/// A value as text, and the length of the whole of it.
fn rendered(value: JSValue) -> Result<(String, u64), Refused> {
    // SAFETY: reads the tag only.
    if unsafe { qjs::JS_IsString(value) } {
        return Ok(with_utf8(value, |text| (text.to_owned(), text.len() as u64))?);
    }
    let (mut bytes, len, _) = encode_bounded(value)?;
    if bytes.is_empty() {
        let mut cut = Encoder::new();
        values::encode_prefix(value, &mut cut, vm::output_room())?;
        bytes = cut.into_bytes();
    }
    Ok((codemode_wire::json::to_json(&bytes).unwrap_or_else(|_| "null".into()), len))
}

unsafe extern "C" fn json(
    _: *mut JSContext,
    _: JSValue,
    argc: c_int,
    argv: *mut JSValue,
) -> JSValue {
    let value = Args(argv, argc).at(0);
    match encode_bounded(value) {
        Ok((bytes, len, values)) => add_output(Item::Json(&bytes, len, values, value)),
        Err(refused) => refuse(refused, "json(value)"),
    }
}

/// Encodes within what is left of the output budget. When output may be cut, what does not fit is
/// only measured: it gives no bytes, and how long it is as JSON. The last is how many values it is.
fn encode_bounded(value: JSValue) -> Result<(Vec<u8>, u64, usize), Refused> {
    let leg = vm::leg();
    let room = vm::output_room();
    let mut out = Encoder::new();
    let mut encoded = values::encode(value, &mut out, room);
    if leg.truncate_output && matches!(encoded, Err(Refused::Budget)) {
        out = Encoder::counter();
        encoded = values::encode(value, &mut out, u64::MAX);
    }
    let notes = encoded?;
    vm::warn(notes.warnings("an output item"));
    let (len, values) = (out.json_len(), out.values());
    Ok((out.into_bytes(), len, values))
}

/// What is added to the output, with its whole length; there may be less of it.
enum Item<'a> {
    /// In bytes of UTF-8.
    Text(&'a str, u64),
    /// Encoded, unless it does not fit; in bytes of JSON; how many values.
    Json(&'a [u8], u64, usize, JSValue),
}

fn add_output(given: Item<'_>) -> JSValue {
    let truncate = vm::leg().truncate_output;
    let room = vm::output_room();
    let (kind, key, fits, len) = match &given {
        Item::Text(text, len) => {
            let as_json = codemode_wire::value::json_string_len(text);
            ("text", "text", text.len() as u64 == *len && as_json <= room, *len)
        }
        Item::Json(_, len, ..) => ("json", "value", *len <= room, *len),
    };
    if !fits && !truncate {
        return stop_output();
    }
    if !fits && room == 0 {
        vm::cell(|c| {
            c.omitted_items += 1;
            c.omitted_bytes += len;
        });
        return UNDEFINED;
    }
    let mut item_values = ITEM_VALUES;
    let mut item = Encoder::new();
    let mut open = item.begin_object();
    item.key(&mut open, "type");
    item.string(kind);
    item.key(&mut open, key);
    let before = item.json_len();
    let kept = match given {
        Item::Text(text, _) if fits => {
            item.string(text);
            len
        }
        Item::Text(text, _) => {
            let kept = values::prefix(text, room);
            item.string(kept);
            kept.len() as u64
        }
        Item::Json(bytes, len, values, _) if fits => {
            item_values += values;
            item.raw(bytes, len);
            len
        }
        Item::Json(.., value) => {
            let mut cut = Encoder::new();
            if values::encode_prefix(value, &mut cut, room).is_err() {
                return EXCEPTION;
            }
            let kept = cut.json_len();
            item_values += cut.values();
            item.raw(&cut.into_bytes(), kept);
            kept
        }
    };
    // The first that is cut takes all that is left.
    let cost = if fits { item.json_len() - before } else { room };
    if !fits {
        item.key(&mut open, "omittedBytes");
        item.int(len.saturating_sub(kept) as i64);
    }
    item.end(open);
    // The budget counts what a program says; items that say next to nothing take room as well.
    let most = codemode_wire::max_items_len(vm::leg().max_output);
    let fits = vm::cell(|c| {
        c.output_used += cost;
        c.output_bytes += item.len();
        c.turn_values += item_values;
        let fits = c.output_bytes <= most && c.turn_values < MAX_VALUES;
        if fits {
            c.output.push(item.into_bytes().into());
        }
        fits
    });
    if fits { UNDEFINED } else { stop_output() }
}

fn stop_output() -> JSValue {
    vm::stop(Stop::Output)
}

/// Turns a refusal into what a host function gives back.
fn refuse(refused: Refused, what: &str) -> JSValue {
    match refused {
        Refused::Thrown => EXCEPTION,
        Refused::Budget => stop_output(),
        Refused::Shape(why) => throw_type_error(&format!("{what}: {why}")),
    }
}

// ---- nested calls ----

/// `call(op, target, input, error)`: records a request and gives its promise.
unsafe extern "C" fn call(
    _: *mut JSContext,
    _: JSValue,
    argc: c_int,
    argv: *mut JSValue,
) -> JSValue {
    let args = Args(argv, argc);
    match record(&args) {
        Ok(promise) => promise.into_raw(),
        Err(Refused::Shape(message)) => {
            let error = error_of(args.at(3), &message);
            // SAFETY: J1, J3; the promise takes its own reference.
            unsafe { qjs::JS_NewSettledPromise(ctx(), true, error.raw()) }
        }
        Err(Refused::Thrown | Refused::Budget) => EXCEPTION,
    }
}

fn record(args: &Args) -> Result<Js, Refused> {
    let op = text_of(args.at(0)).unwrap_or_default();
    let Some(target) = text_of(args.at(1)) else {
        return Err(Refused::Shape(match op.as_str() {
            "search" => "tools.search(query, { limit }): query must be a string".into(),
            _ => format!(
                "tools.{op}(id{}): id must be a string such as ALL_TOOLS[0].id",
                if op == "describe" { "" } else { ", input" }
            ),
        }));
    };
    if op.len().max(target.len()) > MAX_TARGET {
        return Err(Refused::Shape(format!(
            "tools.{op}: its first argument is {} bytes long, at most {MAX_TARGET} are read; pass data as input",
            target.len()
        )));
    }
    let of = failure::clip(&target, 200);
    // SAFETY: looks at the class only.
    if unsafe { qjs::JS_IsPromise(args.at(2)) } {
        return Err(Refused::Shape(format!(
            "the input of {of} is a promise, so nothing was called; write `await` before it"
        )));
    }
    // SAFETY: J1.
    if unsafe { qjs::JS_IsFunction(ctx(), args.at(2)) } {
        return Err(Refused::Shape(format!(
            "the input of {of} is a function, so nothing was called; give the value that it returns"
        )));
    }
    let mut input = Encoder::new();
    let used = vm::cell(|c| c.request_bytes) + target.len();
    let budget = MAX_TURN_INPUT.saturating_sub(used) as u64;
    match values::encode(args.at(2), &mut input, budget) {
        Ok(notes) => {
            vm::warn(notes.warnings(&format!("the input of {of}")));
            if notes.functions > 0 {
                vm::warn(vec![format!(
                    "the input of {of} held a function, of which only the name was sent; to send what it returns, call it"
                )]);
            }
        }
        Err(Refused::Budget) => {
            return Err(Refused::Shape(format!(
                "the input of {of} is over {MAX_TURN_INPUT} bytes of JSON for the calls made at once; send less, or await calls in between"
            )));
        }
        Err(Refused::Shape(why)) => {
            return Err(Refused::Shape(format!("the input of {of}: {why}")));
        }
        Err(Refused::Thrown) => return Err(Refused::Thrown),
    }
    if vm::cell(|c| c.calls.len()) >= MAX_OUTSTANDING {
        return Err(Refused::Shape(format!(
            "too many nested calls at once: {MAX_OUTSTANDING} are outstanding; await some of them first"
        )));
    }
    let values = input.values();
    let mut request = Request { id: 0, op, target, input: input.into_bytes().into() };
    let size = request.size(values);
    if vm::cell(|c| c.held).saturating_add(size) > MAX_HELD {
        return Err(Refused::Shape(format!(
            "the inputs of the nested calls that are outstanding would be over {MAX_HELD} bytes; await some of them first"
        )));
    }
    let mut functions = [UNDEFINED; 2];
    // SAFETY: J1; the engine writes two function values.
    let promise =
        Js::check(unsafe { qjs::JS_NewPromiseCapability(ctx(), functions.as_mut_ptr()) })?;
    let error = Js::dup(args.at(3)).into_raw();
    vm::cell(|c| {
        c.last_call += 1;
        let [resolve, reject] = functions;
        c.calls.insert(c.last_call, Call { resolve, reject, error, size });
        c.held += size;
        // A getter of the input may have made calls of its own meanwhile.
        c.request_bytes += request.target.len() + request.input.len();
        c.turn_values += values;
        request.id = c.last_call;
        c.requests.push(request);
    });
    Ok(promise)
}

/// The error that was made at the call, now with its message; a new one if there is none.
pub(crate) fn error_of(made: JSValue, message: &str) -> Js {
    // SAFETY: looks at the class only.
    if !unsafe { qjs::JS_IsError(made) } {
        return new_error(message);
    }
    let error = Js::dup(made);
    let flags = (qjs::JS_PROP_WRITABLE | qjs::JS_PROP_CONFIGURABLE) as i32;
    error.define("message", Js::string(message), flags);
    error
}

unsafe extern "C" fn yield_control(
    _: *mut JSContext,
    _: JSValue,
    argc: c_int,
    argv: *mut JSValue,
) -> JSValue {
    let reason = Args(argv, argc).at(0);
    let reason = text_of(reason).unwrap_or_default().chars().take(500).collect();
    let mut functions = [UNDEFINED; 2];
    // SAFETY: J1; the engine writes two function values.
    let promise = unsafe { qjs::JS_NewPromiseCapability(ctx(), functions.as_mut_ptr()) };
    let Ok(promise) = Js::check(promise) else { return EXCEPTION };
    drop(Js::own(functions[1]));
    vm::cell(|c| {
        c.yields.push(functions[0]);
        c.yielded = Some(reason);
    });
    promise.into_raw()
}

// ---- time, randomness, text ----

fn number(v: JSValue) -> f64 {
    let mut out = f64::NAN;
    // SAFETY: J1; failure leaves an exception that is dropped here.
    if unsafe { qjs::JS_ToFloat64(ctx(), &raw mut out, v) } < 0 {
        drop(take_exception());
    }
    out
}

/// `schedule(delayMs, fn)`: an id; `fn()` is called when due.
unsafe extern "C" fn schedule(
    _: *mut JSContext,
    _: JSValue,
    argc: c_int,
    argv: *mut JSValue,
) -> JSValue {
    let args = Args(argv, argc);
    let delay = number(args.at(0));
    let delay = if delay.is_finite() { delay.clamp(0.0, 2_147_483_647.0) } else { 0.0 };
    if vm::cell(|c| c.timers.len()) >= MAX_TIMERS {
        return throw_type_error("too many timers: 10000 are set; clear some first");
    }
    let f = Js::dup(args.at(1));
    let due = vm::epoch_micros() + (delay * 1000.0) as u64;
    let id = vm::cell(|c| {
        c.last_timer += 1;
        c.timers.insert((due, c.last_timer), f.into_raw());
        c.last_timer
    });
    Js::number(f64::from(id)).into_raw()
}

unsafe extern "C" fn cancel(
    _: *mut JSContext,
    _: JSValue,
    argc: c_int,
    argv: *mut JSValue,
) -> JSValue {
    // What is no id of a timer becomes 0, which none has.
    let id = number(Args(argv, argc).at(0)) as u32;
    let found = vm::cell(|c| {
        let key = c.timers.keys().find(|(_, timer)| *timer == id).copied();
        key.and_then(|k| c.timers.remove(&k))
    });
    drop(found.map(Js::own));
    UNDEFINED
}

unsafe extern "C" fn now(_: *mut JSContext, _: JSValue, _: c_int, _: *mut JSValue) -> JSValue {
    #[allow(clippy::cast_precision_loss)]
    Js::number(vm::epoch_micros() as f64 / 1000.0).into_raw()
}

unsafe extern "C" fn monotonic(
    _: *mut JSContext,
    _: JSValue,
    _: c_int,
    _: *mut JSValue,
) -> JSValue {
    #[allow(clippy::cast_precision_loss)]
    Js::number(vm::monotonic_ns() as f64 / 1e6).into_raw()
}

/// `random(bytes)`: fills a `Uint8Array` with entropy of the system.
unsafe extern "C" fn random(
    _: *mut JSContext,
    _: JSValue,
    argc: c_int,
    argv: *mut JSValue,
) -> JSValue {
    let array = Args(argv, argc).at(0);
    let mut len: qjs::size_t = 0;
    // SAFETY: J1; the engine gives the bytes of a live array, which this call does not free.
    unsafe {
        let p = qjs::JS_GetUint8Array(ctx(), &raw mut len, array);
        if p.is_null() {
            return EXCEPTION;
        }
        vm::entropy(std::slice::from_raw_parts_mut(p, len as usize));
    }
    Js::dup(array).into_raw()
}

unsafe extern "C" fn utf8_encode(
    _: *mut JSContext,
    _: JSValue,
    argc: c_int,
    argv: *mut JSValue,
) -> JSValue {
    let made = with_utf8(Args(argv, argc).at(0), |text| {
        // SAFETY: J1; the engine copies the bytes.
        unsafe { qjs::JS_NewUint8ArrayCopy(ctx(), text.as_ptr(), text.len() as _) }
    });
    made.unwrap_or(EXCEPTION)
}

/// `utf8Decode(bytes, fatal)`.
unsafe extern "C" fn utf8_decode(
    _: *mut JSContext,
    _: JSValue,
    argc: c_int,
    argv: *mut JSValue,
) -> JSValue {
    let args = Args(argv, argc);
    let mut len: qjs::size_t = 0;
    // SAFETY: J1; the bytes are copied before any guest code can run.
    let bytes = unsafe {
        let p = qjs::JS_GetUint8Array(ctx(), &raw mut len, args.at(0));
        if p.is_null() {
            return EXCEPTION;
        }
        std::slice::from_raw_parts(p, len as usize).to_vec()
    };
    // SAFETY: J1.
    let fatal = unsafe { qjs::JS_ToBool(ctx(), args.at(1)) } > 0;
    match String::from_utf8(bytes) {
        Ok(text) => Js::string(&text).into_raw(),
        Err(_) if fatal => throw_type_error("The encoded data was not valid for encoding utf-8"),
        Err(e) => Js::string(&String::from_utf8_lossy(e.as_bytes())).into_raw(),
    }
}

/// `quote(v)`: a short quoted form for messages.
unsafe extern "C" fn quote(
    _: *mut JSContext,
    _: JSValue,
    argc: c_int,
    argv: *mut JSValue,
) -> JSValue {
    let text = text_of(Args(argv, argc).at(0)).unwrap_or_else(|| "that is not a string".into());
    Js::string(&format!("{:?}", text.chars().take(120).collect::<String>())).into_raw()
}

/// `missed(place, name, names, reason)`: a name of `MCP` that was read and does not exist.
unsafe extern "C" fn missed(
    _: *mut JSContext,
    _: JSValue,
    argc: c_int,
    argv: *mut JSValue,
) -> JSValue {
    let args = Args(argv, argc);
    let [place, name, names, reason] =
        [0, 1, 2, 3].map(|at| text_of(args.at(at)).unwrap_or_default());
    crate::tools::miss_mcp(&place, &name, &names, &reason);
    UNDEFINED
}

/// `stack(error, raw)`: headline and frames, with places in the text that the model sent.
unsafe extern "C" fn stack(
    _: *mut JSContext,
    _: JSValue,
    argc: c_int,
    argv: *mut JSValue,
) -> JSValue {
    let args = Args(argv, argc);
    match text_of(args.at(1)) {
        Some(raw) => Js::string(&failure::readable_stack(args.at(0), &raw)).into_raw(),
        None => Js::dup(args.at(1)).into_raw(),
    }
}

// ---- catalog data ----

/// `fetch(kind, argument)`: asks the host and gives the decoded answer.
unsafe extern "C" fn fetch(
    _: *mut JSContext,
    _: JSValue,
    argc: c_int,
    argv: *mut JSValue,
) -> JSValue {
    let args = Args(argv, argc);
    let kind = match text_of(args.at(0)).unwrap_or_default().as_str() {
        "catalog" => FetchKind::Catalog,
        "apiList" => FetchKind::ApiList,
        "apiRead" => FetchKind::ApiRead,
        _ => FetchKind::McpNames,
    };
    let argument = text_of(args.at(1)).unwrap_or_default();
    // No file has so long a path.
    let bytes = if argument.len() > MAX_TARGET {
        vec![Tag::Null as u8]
    } else {
        vm::fetch(&Fetch { kind, argument })
    };
    match values::decode(&bytes) {
        Ok(value) => value.into_raw(),
        Err(e) => throw_type_error(&format!("the catalog could not be read: {e}")),
    }
}

// ---- callbacks of the engine ----

/// Remembers rejections that nobody handles, and forgets those that are handled late.
pub(crate) unsafe extern "C" fn on_rejection(
    _: *mut JSContext,
    promise: JSValue,
    reason: JSValue,
    is_handled: bool,
    _: *mut c_void,
) {
    let me = crate::js::pointer(promise);
    if is_handled {
        let gone = vm::cell(|c| {
            let at = c.rejections.iter().position(|(p, _)| crate::js::pointer(*p) == me);
            if at.is_none() {
                c.rejections_dropped = c.rejections_dropped.saturating_sub(1);
            }
            at.map(|i| c.rejections.remove(i))
        });
        if let Some((promise, reason)) = gone {
            drop((Js::own(promise), Js::own(reason)));
        }
        return;
    }
    if vm::cell(|c| c.rejections.len()) >= MAX_REJECTIONS {
        vm::cell(|c| c.rejections_dropped += 1);
        return;
    }
    let pair = (Js::dup(promise).into_raw(), Js::dup(reason).into_raw());
    vm::cell(|c| c.rejections.push(pair));
}

pub(crate) unsafe extern "C" fn on_interrupt(_: *mut qjs::JSRuntime, _: *mut c_void) -> c_int {
    c_int::from(vm::check_time())
}
