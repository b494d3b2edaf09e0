//! The state of the one VM of this process: what runs, until when, and why it must stop.
//!
//! `unsafe` blocks cite the invariants of [`crate::js`].
#![allow(unsafe_code)]

use std::cell::{Cell as StdCell, RefCell};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::ptr;

use codemode_wire::{Fetch, FromWorker, Leg};
use rquickjs_sys as qjs;

use crate::arena;
use crate::cell::Cell;
use crate::js::{EXCEPTION, JSContext, JSValue, Js, Thrown, UNDEFINED};
use crate::outcome::{fail, stopped_failure};
use crate::single::SingleThread;
use crate::snapshot;
use crate::tools;

/// Why no more guest code may run. Sticky for the rest of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Time,
    Memory,
    Output,
}

/// Answers a [`Fetch`] in the middle of a turn: gives one encoded value.
pub type Fetcher = fn(&Fetch) -> Vec<u8>;

/// Tells the host of a turn that ended for want of memory, and ends the process.
pub type ExhaustionHandler = fn(FromWorker<'static>) -> !;

pub(crate) struct Vm {
    pub(crate) rt: StdCell<*mut qjs::JSRuntime>,
    pub(crate) ctx: StdCell<*mut JSContext>,
    /// Functions of the prelude that the host calls; constant after the template is built.
    pub(crate) helpers: RefCell<BTreeMap<String, JSValue>>,
    pub(crate) boxed_classes: RefCell<Vec<qjs::JSClassID>>,
    /// Address of `URL.prototype`.
    pub(crate) url_prototype: StdCell<usize>,
    /// Where the context keeps `time_origin`, `random_state`, `hash_seed`.
    pub(crate) seeds: StdCell<usize>,
    pub(crate) cell: RefCell<Cell>,
    pub(crate) leg: RefCell<Leg>,
    pub(crate) stop: StdCell<Option<Stop>>,
    pub(crate) fetcher: StdCell<Fetcher>,
    pub(crate) exhaustion: StdCell<Option<ExhaustionHandler>>,
}

const NO_LEG: Leg = Leg {
    deadline_ns: 0,
    kill_ns: 0,
    memory_limit: 0,
    max_output: 0,
    output_used: 0,
    max_snapshot: 0,
    truncate_output: false,
};

pub(crate) static VM: SingleThread<Vm> = SingleThread::new(Vm {
    rt: StdCell::new(ptr::null_mut()),
    ctx: StdCell::new(ptr::null_mut()),
    helpers: RefCell::new(BTreeMap::new()),
    boxed_classes: RefCell::new(Vec::new()),
    url_prototype: StdCell::new(0),
    seeds: StdCell::new(0),
    cell: RefCell::new(Cell::EMPTY),
    leg: RefCell::new(NO_LEG),
    stop: StdCell::new(None),
    fetcher: StdCell::new(no_fetcher),
    exhaustion: StdCell::new(None),
});

fn no_fetcher(_: &Fetch) -> Vec<u8> {
    vec![codemode_wire::Tag::Null as u8]
}

pub(crate) fn ctx() -> *mut JSContext {
    VM.get().ctx.get()
}

/// Runs `f` on the state of the cell; `f` must not call into the engine.
pub(crate) fn cell<R>(f: impl FnOnce(&mut Cell) -> R) -> R {
    f(&mut VM.get().cell.borrow_mut())
}

pub(crate) fn leg() -> Leg {
    VM.get().leg.borrow().clone()
}

/// What is left of the output budget, bytes of JSON.
pub(crate) fn output_room() -> u64 {
    VM.get().leg.borrow().max_output.saturating_sub(cell(|c| c.output_used))
}

/// Most warnings that are kept; a result shows fewer.
const MAX_WARNINGS: usize = 1000;

pub(crate) fn warn(texts: Vec<String>) {
    cell(|c| {
        let room = MAX_WARNINGS.saturating_sub(c.warnings.len());
        c.warnings.extend(texts.into_iter().take(room));
    });
}

pub(crate) fn helper(name: &str) -> Js {
    let raw = VM.get().helpers.borrow().get(name).copied();
    Js::dup(raw.unwrap_or(UNDEFINED))
}

pub(crate) fn is_boxed(v: JSValue) -> bool {
    // SAFETY: reads the class only.
    let class = unsafe { qjs::JS_GetClassID(v) };
    VM.get().boxed_classes.borrow().contains(&class)
}

/// Whether `v` is directly below `URL.prototype`.
pub(crate) fn is_url(v: JSValue) -> bool {
    // SAFETY: J1, J3.
    let prototype = Js::own(unsafe { qjs::JS_GetPrototype(ctx(), v) });
    prototype.is_object() && crate::js::pointer(prototype.raw()) == VM.get().url_prototype.get()
}

pub(crate) fn fetch(request: &Fetch) -> Vec<u8> {
    (VM.get().fetcher.get())(request)
}

// ---- clocks, entropy ----

fn clock(id: libc::clockid_t) -> libc::timespec {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a local.
    unsafe { libc::clock_gettime(id, &raw mut t) };
    t
}

/// `CLOCK_MONOTONIC` in nanoseconds.
pub fn monotonic_ns() -> u64 {
    let t = clock(libc::CLOCK_MONOTONIC);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

pub(crate) fn epoch_micros() -> u64 {
    let t = clock(libc::CLOCK_REALTIME);
    t.tv_sec as u64 * 1_000_000 + t.tv_nsec as u64 / 1000
}

/// Fills `bytes` from the system; ends the process if it cannot, never a weak value.
pub(crate) fn entropy(bytes: &mut [u8]) {
    for chunk in bytes.chunks_mut(256) {
        // SAFETY: the pointer and length are those of the chunk.
        let n = unsafe { libc::getrandom(chunk.as_mut_ptr().cast(), chunk.len(), 0) };
        if n != chunk.len() as isize {
            std::process::abort();
        }
    }
}

// ---- stopping ----

/// Sets the sticky flag and throws something that the guest cannot catch.
pub(crate) fn stop(why: Stop) -> JSValue {
    if VM.get().stop.get().is_none() {
        VM.get().stop.set(Some(why));
    }
    // SAFETY: J1; the format has no arguments.
    unsafe {
        qjs::JS_ThrowInternalError(ctx(), c"stopped".as_ptr());
        let error = qjs::JS_GetException(ctx());
        qjs::JS_SetUncatchableError(ctx(), error);
        qjs::JS_Throw(ctx(), error);
    }
    EXCEPTION
}

/// Sets what ends the process when memory is exhausted in the middle of the engine.
pub fn on_exhaustion(handler: ExhaustionHandler) {
    VM.get().exhaustion.set(Some(handler));
}

/// Called by the allocator, possibly deep inside the engine: touches nothing of the VM.
pub(crate) fn memory_exhausted() {
    if VM.get().stop.get().is_none() {
        VM.get().stop.set(Some(Stop::Memory));
    }
    if let Some(handler) = VM.get().exhaustion.get() {
        handler(fail(stopped_failure()));
    }
}

/// Whether no more guest code may run.
pub(crate) fn stopped() -> bool {
    if VM.get().stop.get().is_none() && arena::limit_hit() {
        VM.get().stop.set(Some(Stop::Memory));
    }
    VM.get().stop.get().is_some()
}

/// Polled by the engine: whether to interrupt.
pub(crate) fn check_time() -> bool {
    if VM.get().stop.get().is_none() && monotonic_ns() >= VM.get().leg.borrow().deadline_ns {
        VM.get().stop.set(Some(Stop::Time));
    }
    stopped()
}
/// Evaluates a script of this crate or the wrapped cell.
pub(crate) fn eval(source: &str, file: &str) -> Result<Js, Thrown> {
    let len = source.len();
    let source = CString::new(source).map_err(|_| Thrown)?;
    let file = CString::new(file).map_err(|_| Thrown)?;
    // SAFETY: J1; both strings are null-terminated, the length is without the terminator.
    Js::check(unsafe {
        qjs::JS_Eval(
            ctx(),
            source.as_ptr(),
            len as _,
            file.as_ptr(),
            qjs::JS_EVAL_TYPE_GLOBAL as i32,
        )
    })
}
/// Puts the process back to the template.
pub fn reset() {
    *VM.get().cell.borrow_mut() = Cell::default();
    VM.get().stop.set(None);
    arena::set_limit(usize::MAX);
    arena::whole(snapshot::reset);
    tools::forget_names();
}
