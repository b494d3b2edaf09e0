//! Turns what the guest threw into a text that a model can act on.

use std::fmt::Write as _;

use codemode_source::PositionMap;
use codemode_wire::{Encoder, Failed};

use crate::js::{JSValue, Js, Thrown, is_object, take_exception};
use crate::values::{self, Refused};
use crate::{tools, vm};

/// File name of the wrapped script in the engine's own frames.
pub(crate) const SCRIPT_FILE: &str = "cell-script";
/// File name in frames whose places are in the text that the model sent.
const CELL_FILE: &str = "cell";
const MAX_FRAMES: usize = 8;
const MAX_CAUSES: usize = 4;
const MAX_TEXT: usize = 4000;
/// Bytes of JSON of an error with its fields; of one that has more they are not told.
const MAX_FIELDS: u64 = 2000;
/// Bytes of JSON of a thrown value that is no error; of a longer one they are its beginning.
const MAX_THROWN: u64 = 2000;

/// The failed turn for an exception that nobody caught.
pub(crate) fn uncaught(reason: JSValue) -> Failed<'static> {
    let map = PositionMap::from_bytes(&vm::cell(|c| c.position_map.clone()));
    let mut text = String::new();
    let mut location = None;
    describe(reason, map.as_ref(), &mut text, &mut location, 0);
    let stack_overflow = text.starts_with("RangeError: Maximum call stack size exceeded");
    if let Some(hint) = hint(&text) {
        let _ = write!(text, "\n{hint}");
    }
    Failed {
        code: "internal_error".into(),
        limit: if stack_overflow { "stack".into() } else { String::new() },
        message: clip(&text, MAX_TEXT),
        location,
        ..Failed::default()
    }
}

/// The failed turn for a script that the engine does not compile.
pub(crate) fn not_compiled(reason: JSValue, script: &str) -> Failed<'static> {
    let mut failed = uncaught(reason);
    failed.code = "invalid_input".into();
    if failed.location.is_none()
        && let Some((message, location)) = wrong_regex(script)
    {
        failed.message = message;
        failed.location = Some(location);
    }
    failed
}

/// The first regular expression that the engine does not take: it does not say itself which it is.
fn wrong_regex(script: &str) -> Option<(String, (u32, u32))> {
    let map = PositionMap::from_bytes(&vm::cell(|c| c.position_map.clone()))?;
    codemode_source::regexes(script).into_iter().find_map(|regex| {
        vm::eval(&regex.text, "codemode:regex").err()?;
        let why = read(&take_exception(), "message")?;
        let (line, column) = map.original(regex.line - 1, regex.column)?;
        let text = clip(&regex.text, 200);
        let message = format!(
            "SyntaxError: invalid regular expression {text}: {why} (line {line}, column {column})"
        );
        Some((message, (line, column)))
    })
}

/// `Name: message (line L, column C)` of a value, for warnings.
pub(crate) fn one_line(reason: JSValue) -> String {
    let mut text = String::new();
    headline(reason, &mut text);
    let mut text = clip(&text, 300);
    if is_object(reason) && !vm::stopped() {
        let map = PositionMap::from_bytes(&vm::cell(|c| c.position_map.clone()));
        if let (_, Some((line, column))) = frames(&Js::dup(reason), map.as_ref()) {
            let _ = write!(text, " (line {line}, column {column})");
        }
    }
    text
}

/// The frames of an error that are the cell's, and the place where it was thrown.
fn frames(error: &Js, map: Option<&PositionMap>) -> (Vec<Frame>, Option<(u32, u32)>) {
    let stack = read(error, "stack").unwrap_or_default();
    let class = error.get("constructor").map(|class| read(&class, "name"));
    let class = class.unwrap_or_else(|Thrown| {
        drop_pending();
        None
    });
    let frames: Vec<_> = stack.lines().filter_map(|line| Frame::parse(line, map)).collect();
    // A class's own constructor is where the error was made, not where it was thrown.
    let made = |frame: &Frame| {
        class.as_ref().is_some_and(|name| !name.is_empty() && frame.function == *name)
    };
    let thrown = frames.iter().find(|frame| !made(frame)).map(|f| (f.line, f.column));
    (frames, thrown)
}

fn describe(
    reason: JSValue,
    map: Option<&PositionMap>,
    out: &mut String,
    location: &mut Option<(u32, u32)>,
    depth: usize,
) {
    headline(reason, out);
    if !is_object(reason) || vm::stopped() {
        return;
    }
    let error = Js::dup(reason);
    let (frames, thrown) = frames(&error, map);
    for frame in frames.iter().take(MAX_FRAMES) {
        let _ = write!(out, "\n    at {frame}");
    }
    if frames.len() > MAX_FRAMES {
        let _ = write!(out, "\n    … {} more frames", frames.len() - MAX_FRAMES);
    }
    if depth == 0 {
        *location = thrown;
        fields(reason, out);
    }
    if depth >= MAX_CAUSES {
        return;
    }
    if let Ok(errors) = error.get("errors")
        && errors.is_object()
        && read(&error, "name").as_deref() == Some("AggregateError")
    {
        for i in 0..5 {
            let Ok(one) = errors.get(&i.to_string()) else {
                drop_pending();
                break;
            };
            if one.is_undefined() {
                break;
            }
            let _ = write!(out, "\n  [{i}] ");
            headline(one.raw(), out);
        }
    } else {
        drop_pending();
    }
    match error.get("cause") {
        Ok(cause) if !cause.is_undefined() => {
            out.push_str("\nCaused by: ");
            describe(cause.raw(), map, out, location, depth + 1);
        }
        Ok(_) => {}
        Err(Thrown) => drop_pending(),
    }
}

/// What else an error of the program carries, such as `status`.
fn fields(error: JSValue, out: &mut String) {
    let mut encoded = Encoder::new();
    if values::encode(error, &mut encoded, MAX_FIELDS).is_err() {
        drop_pending();
        return;
    }
    let json = codemode_wire::json::to_json(&encoded.into_bytes()).unwrap_or_default();
    let Ok(serde_json::Value::Object(mut all)) = serde_json::from_str(&json) else { return };
    for told in ["name", "message", "cause", "errors"] {
        all.remove(told);
    }
    if !all.is_empty() {
        let _ = write!(out, "\n    with {}", serde_json::Value::Object(all));
    }
}

fn drop_pending() {
    drop(take_exception());
}

fn read(object: &Js, name: &str) -> Option<String> {
    let text = object
        .get(name)
        .and_then(|value| if value.is_undefined() { Ok(None) } else { value.to_text().map(Some) });
    text.unwrap_or_else(|Thrown| {
        drop_pending();
        None
    })
}

fn headline(reason: JSValue, out: &mut String) {
    // SAFETY: looks at the class only.
    #[allow(unsafe_code)]
    let is_error = unsafe { rquickjs_sys::JS_IsError(reason) };
    let value = Js::dup(reason);
    let looks_like_error = is_error
        || (value.is_object()
            && read(&value, "name").is_some()
            && read(&value, "message").is_some());
    if looks_like_error {
        let name = read(&value, "name").unwrap_or_else(|| "Error".into());
        let message = read(&value, "message").unwrap_or_default();
        out.push_str(&clip(&name, 100));
        if !message.is_empty() {
            let _ = write!(out, ": {message}");
        }
        return;
    }
    out.push_str("Uncaught ");
    let mut encoded = Encoder::new();
    let mut written = values::encode(reason, &mut encoded, MAX_THROWN);
    if matches!(written, Err(Refused::Budget)) {
        encoded = Encoder::new();
        written = values::encode_prefix(reason, &mut encoded, MAX_THROWN);
    }
    match written {
        Ok(_) if value.is_undefined() => out.push_str("undefined"),
        Ok(_) => {
            let json = codemode_wire::json::to_json(&encoded.into_bytes());
            out.push_str(&json.unwrap_or_else(|_| "value".into()));
        }
        Err(_) => {
            drop_pending();
            out.push_str("a value that has no short JSON form");
        }
    }
}

/// The stack text of an error as the guest reads it: headline, then the cell's own frames with
/// places in the text that the model sent.
pub(crate) fn readable_stack(error: JSValue, stack: &str) -> String {
    let map = PositionMap::from_bytes(&vm::cell(|c| c.position_map.clone()));
    let mut out = String::new();
    headline(error, &mut out);
    for frame in stack.lines().filter_map(|line| Frame::parse(line, map.as_ref())) {
        let name = if frame.function.is_empty() { "<anonymous>" } else { &frame.function };
        let _ = write!(out, "\n    at {name} ({CELL_FILE}:{}:{})", frame.line, frame.column);
    }
    out
}

struct Frame {
    function: String,
    line: u32,
    column: u32,
}

impl std::fmt::Display for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.function.is_empty() {
            write!(f, "line {}, column {}", self.line, self.column)
        } else {
            write!(f, "{} (line {}, column {})", self.function, self.line, self.column)
        }
    }
}

impl Frame {
    /// Reads `    at name (FILE:LINE:COLUMN)`; only frames of the cell count.
    fn parse(line: &str, map: Option<&PositionMap>) -> Option<Self> {
        let body = line.trim_start().strip_prefix("at ")?;
        let (function, place) = match body.rsplit_once(" (") {
            Some((name, place)) => (name, place.strip_suffix(')')?),
            None => ("", body),
        };
        let (rest, column) = place.rsplit_once(':')?;
        let (file, line) = rest.rsplit_once(':')?;
        let (line, column) = (line.parse::<u32>().ok()?, column.parse::<u32>().ok()?);
        let (line, column) = match (file, map) {
            (CELL_FILE, _) => (line, column),
            // The first line of the script is the wrapper's.
            // A place in text that was put in belongs to what follows it.
            (SCRIPT_FILE, Some(map)) => (column..column.saturating_add(24))
                .find_map(|column| map.original(line.saturating_sub(1), column))?,
            (SCRIPT_FILE, None) => (line.saturating_sub(1), column),
            _ => return None,
        };
        let function = if function == "<anonymous>" { "" } else { function };
        Some(Self { function: clip(function, 80), line, column })
    }
}

/// What to do about common mistakes.
fn hint(text: &str) -> Option<String> {
    let first = text.lines().next().unwrap_or("");
    if let Some(name) =
        first.strip_prefix("ReferenceError: ").and_then(|m| m.strip_suffix(" is not defined"))
    {
        return Some(not_defined(name));
    }
    if first.starts_with("TypeError:")
        && let Some(name) = vm::cell(|c| c.missed_names.last().cloned())
        && (first.contains("not a function") || first.contains("undefined"))
    {
        return Some(tools::explain_missed(&name));
    }
    let mistaken = ["undefined", "not a function", "not iterable"];
    if first.starts_with("TypeError:")
        && mistaken.iter().any(|word| first.contains(word))
        && vm::cell(|c| !c.calls.is_empty())
    {
        return Some(
            "A tool call had not ended when this was thrown: its value is a promise until it is \
             awaited. Write `await` before the call."
                .into(),
        );
    }
    MEANINGS.iter().find(|(said, _)| first.starts_with(said)).map(|(_, meant)| (*meant).to_owned())
}

/// What texts of the engine mean for the program.
const MEANINGS: &[(&str, &str)] = &[
    (
        "TypeError: Cannot convert undefined or null to object",
        "What is taken apart with { … } = value, or given to Object.keys and the like, is undefined or null.",
    ),
    (
        "TypeError: cannot read property 'Symbol.iterator' of",
        "[a, b] = value, for…of and ...value need an array or another iterable, and there is no value.",
    ),
    (
        "TypeError: value is not iterable",
        "[a, b] = value, for…of and ...value need an array or another iterable; of an object take Object.entries(value).",
    ),
    (
        "SyntaxError: unexpected token: 'object'",
        "JSON.parse was given an object: that is parsed already, use it as it is.",
    ),
    ("SyntaxError: unexpected token: 'undefined'", "JSON.parse was given undefined."),
];

const ROOTS: &str = "The globals here are tools, ALL_TOOLS, API, MCP (when MCP servers are connected), text, json, yield_control, console and the JavaScript built-ins.";

fn not_defined(name: &str) -> String {
    static HINTS: &str = include_str!("../guest/globals/hints.json");
    let hints: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(HINTS).unwrap_or_default();
    if let Some(hint) = hints.get(name).and_then(|v| v.as_str()) {
        return format!("{}. {ROOTS}", hint.trim_end_matches('.'));
    }
    let member = if tools::has(name) {
        format!("{name} is a member of tools: write `await tools.{name}(…)`. ")
    } else {
        String::new()
    };
    format!(
        "{member}{ROOTS} Cells do not share variables: what an earlier exec declared is gone, so declare {name} in this program."
    )
}

pub(crate) fn clip(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
