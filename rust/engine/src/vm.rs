//! The VM: built once as a template, then one leg of one cell per forked process.
//!
//! `unsafe` blocks cite the invariants of [`crate::js`].
#![allow(unsafe_code)]

use std::cell::{Cell as StdCell, RefCell};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::ptr;

use codemode_source::Options;
use codemode_wire::{
    Encoder, Failed, Fetch, Finished, FromWorker, Leg, Resume, Settlement, Start, Suspended,
};
use rquickjs_sys as qjs;

use crate::arena;
use crate::bridge;
use crate::cell::Cell;
use crate::failure::{self, SCRIPT_FILE};
use crate::js::{EXCEPTION, JSContext, JSValue, Js, Thrown, UNDEFINED, new_error, take_exception};
use crate::single::SingleThread;
use crate::snapshot::{self, RestoreError};
use crate::tools;
use crate::values::{self, DecodeError, Refused};

/// Native stack that guest code may use, of the 8 MiB that the main thread has.
const GUEST_STACK: usize = 4 << 20;
/// Output left for the final value when earlier output was cut, bytes of JSON.
const VALUE_RESERVE: u64 = 256;

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
pub type ExhaustionHandler = fn(FromWorker) -> !;

struct Vm {
    rt: StdCell<*mut qjs::JSRuntime>,
    ctx: StdCell<*mut JSContext>,
    /// Functions of the prelude that the host calls; constant after the template is built.
    helpers: RefCell<BTreeMap<String, JSValue>>,
    boxed_classes: RefCell<Vec<qjs::JSClassID>>,
    /// Address of `URL.prototype`.
    url_prototype: StdCell<usize>,
    /// Where the context keeps `time_origin`, `random_state`, `hash_seed`.
    seeds: StdCell<usize>,
    cell: RefCell<Cell>,
    leg: RefCell<Leg>,
    stop: StdCell<Option<Stop>>,
    fetcher: StdCell<Fetcher>,
    exhaustion: StdCell<Option<ExhaustionHandler>>,
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

static VM: SingleThread<Vm> = SingleThread::new(Vm {
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

// ---- the template ----

/// The template could not be built; the worker must not serve.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum TemplateError {
    #[error(transparent)]
    Map(#[from] arena::MapError),
    #[error("the engine did not start")]
    Engine,
    #[error("prelude {file}: {error}")]
    Prelude { file: &'static str, error: String },
    #[error("the layout of the engine's context is not as expected")]
    Layout,
}

/// One file of the prelude: an expression that is called with `(host, define)`.
struct PreludeFile {
    name: &'static str,
    source: &'static str,
}

macro_rules! prelude {
    ($($name:literal),* $(,)?) => {
        &[$(PreludeFile {
            name: concat!("codemode:", $name),
            source: include_str!(concat!("../guest/globals/", $name, ".js")),
        }),*]
    };
}

const GLOBALS: &[PreludeFile] = prelude![
    "base", "inspect", "console", "timers", "encoding", "urlparse", "url", "crypto", "misc",
    "locale", "collate", "dates", "clone",
];
const BRIDGE: PreludeFile =
    PreludeFile { name: "codemode:bridge", source: include_str!("../guest/bridge.js") };

static MALLOC: qjs::JSMallocFunctions = qjs::JSMallocFunctions {
    js_calloc: Some(arena::calloc),
    js_malloc: Some(arena::malloc),
    js_free: Some(arena::free),
    js_realloc: Some(arena::realloc),
    js_malloc_usable_size: Some(arena::usable_size),
};

/// Builds the template VM in this process: engine, context, prelude. `build` identifies the
/// executable; `stack` is the address range of the native stack.
pub fn build_template(build: u64, stack: std::ops::Range<usize>) -> Result<(), TemplateError> {
    arena::map()?;
    let vm = VM.get();
    // SAFETY: the first and only creation; J1 and J2 hold from here on.
    unsafe {
        let rt = qjs::JS_NewRuntime2(&raw const MALLOC, ptr::null_mut());
        if rt.is_null() {
            return Err(TemplateError::Engine);
        }
        vm.rt.set(rt);
        qjs::JS_SetMaxStackSize(rt, GUEST_STACK as _);
        qjs::JS_SetInterruptHandler(rt, Some(bridge::on_interrupt), ptr::null_mut());
        let ctx = qjs::JS_NewContextRaw(rt);
        if ctx.is_null() {
            return Err(TemplateError::Engine);
        }
        vm.ctx.set(ctx);
        for add in [
            qjs::JS_AddIntrinsicBaseObjects,
            qjs::JS_AddIntrinsicDate,
            qjs::JS_AddIntrinsicEval,
            qjs::JS_AddIntrinsicRegExp,
            qjs::JS_AddIntrinsicJSON,
            qjs::JS_AddIntrinsicProxy,
            qjs::JS_AddIntrinsicMapSet,
            qjs::JS_AddIntrinsicTypedArrays,
            qjs::JS_AddIntrinsicPromise,
            qjs::JS_AddIntrinsicBigInt,
            qjs::JS_AddIntrinsicWeakRef,
            qjs::JS_AddIntrinsicDOMException,
            qjs::JS_AddIntrinsicAToB,
        ] {
            if add(ctx) < 0 {
                return Err(TemplateError::Engine);
            }
        }
        vm.seeds.set(find_seeds(ctx as usize).ok_or(TemplateError::Layout)?);
    }
    VM.get().leg.borrow_mut().deadline_ns = u64::MAX;
    let boxes = eval(
        "[new String(''), new Number(0), new Boolean(false), Object(Symbol()), Object(0n)]",
        "codemode:probe",
    )
    .map_err(|Thrown| TemplateError::Engine)?;
    for i in 0..5 {
        if let Ok(one) = boxes.get(&i.to_string()) {
            // SAFETY: reads the class only.
            vm.boxed_classes.borrow_mut().push(unsafe { qjs::JS_GetClassID(one.raw()) });
        }
    }
    drop(boxes);
    let host = host_object();
    run_prelude(&BRIDGE, &host, define_frozen)?;
    for file in GLOBALS {
        run_prelude(file, &host, define_global)?;
    }
    note_url(&host);
    drop(host);
    // SAFETY: J1. The tracker starts now: nothing of the prelude is reported.
    unsafe {
        qjs::JS_SetHostPromiseRejectionTracker(
            vm.rt.get(),
            Some(bridge::on_rejection),
            ptr::null_mut(),
        );
        qjs::JS_RunGC(vm.rt.get());
        warm_size_classes();
        write_seeds(0.0, 1, Some(1));
    }
    snapshot::seal(build, stack);
    Ok(())
}

/// What a URL is written as when it crosses.
fn note_url(host: &Js) {
    let prototype = eval("URL.prototype", "codemode:probe");
    if let (Ok(prototype), Ok(text)) = (prototype, host.get("urlText")) {
        VM.get().url_prototype.set(crate::js::pointer(prototype.raw()));
        VM.get().helpers.borrow_mut().insert("urlText".into(), text.into_raw());
    }
}

/// Gives every size class of the engine's small blocks a piece of memory with free blocks. A cell
/// then fills blocks that the template has too, and an image holds what is in them, not the
/// headers of the free ones around them.
fn warm_size_classes() {
    const PIECE: usize = 4096;
    const HEADER: usize = 8;
    let classes =
        (16..=128).step_by(8).chain((144..=256).step_by(16)).chain((288..=512).step_by(32));
    for size in classes {
        let fill = PIECE / size;
        // SAFETY: J1; each block is freed once, but for one that holds its piece for ever.
        unsafe {
            let blocks: Vec<_> =
                (0..2 * fill).map(|_| qjs::js_malloc(ctx(), (size - HEADER) as _)).collect();
            for (i, block) in blocks.into_iter().enumerate() {
                if i != fill {
                    qjs::js_free(ctx(), block);
                }
            }
        }
    }
}

fn host_object() -> Js {
    let host = Js::object();
    for (name, function) in bridge::FUNCTIONS {
        // SAFETY: J1; name is static, the function has the engine's signature.
        let f = Js::own(unsafe {
            qjs::JS_NewCFunction2(
                ctx(),
                Some(*function),
                name.as_ptr(),
                0,
                qjs::JSCFunctionEnum_JS_CFUNC_generic,
                0,
            )
        });
        host.define(name.to_str().unwrap_or_default(), f, qjs::JS_PROP_C_W_E as i32);
    }
    host
}

type Definer =
    unsafe extern "C" fn(*mut JSContext, JSValue, std::ffi::c_int, *mut JSValue) -> JSValue;

fn run_prelude(file: &PreludeFile, host: &Js, define: Definer) -> Result<(), TemplateError> {
    let fail = |Thrown| {
        let error = take_exception();
        let stack = error.get("stack").and_then(|s| s.to_text()).unwrap_or_default();
        let error = format!("{}\n{stack}", failure::one_line(error.raw()));
        TemplateError::Prelude { file: file.name, error }
    };
    let function = eval(file.source, file.name).map_err(fail)?;
    // SAFETY: J1; static name and function.
    let define = Js::own(unsafe {
        qjs::JS_NewCFunction2(
            ctx(),
            Some(define),
            c"define".as_ptr(),
            2,
            qjs::JSCFunctionEnum_JS_CFUNC_generic,
            0,
        )
    });
    let made = function.call(UNDEFINED, &[host.raw(), define.raw()]).map_err(fail)?;
    if made.is_object() {
        for name in [
            "BigInt",
            "symbolText",
            "functionText",
            "dateText",
            "mapPairs",
            "toList",
            "unbox",
            "toolCaller",
            "install",
        ] {
            let f = made.get(name).map_err(fail)?;
            if f.is_function() {
                VM.get().helpers.borrow_mut().insert(name.to_owned(), f.into_raw());
            }
        }
    }
    Ok(())
}

fn define(argc: std::ffi::c_int, argv: *mut JSValue, flags: u32) -> JSValue {
    let args = bridge::Args::new(argv, argc);
    // SAFETY: J1.
    let global = Js::own(unsafe { qjs::JS_GetGlobalObject(ctx()) });
    let Ok(name) = Js::dup(args.at(0)).to_text() else { return EXCEPTION };
    global.define(&name, Js::dup(args.at(1)), flags as i32);
    UNDEFINED
}

unsafe extern "C" fn define_frozen(
    _: *mut JSContext,
    _: JSValue,
    argc: std::ffi::c_int,
    argv: *mut JSValue,
) -> JSValue {
    define(argc, argv, qjs::JS_PROP_ENUMERABLE)
}

unsafe extern "C" fn define_global(
    _: *mut JSContext,
    _: JSValue,
    argc: std::ffi::c_int,
    argv: *mut JSValue,
) -> JSValue {
    define(argc, argv, qjs::JS_PROP_WRITABLE | qjs::JS_PROP_CONFIGURABLE)
}

fn eval(source: &str, file: &str) -> Result<Js, Thrown> {
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

// ---- seeds ----

const XORSHIFT_MULTIPLIER: u64 = 0x2545_F491_4F6C_DD1D;

/// The engine has no call to set the state of `Math.random` and the seed of `Map` hashes. The
/// seed was made from the state by one xorshift64* step, which finds and proves their place.
fn find_seeds(context: usize) -> Option<usize> {
    let mut found = None;
    for at in (context..context + 4096).step_by(8) {
        // SAFETY: the context lies in the arena, which is mapped far beyond it.
        let (state, seed) = unsafe { (*(at as *const u64), *((at + 8) as *const u32)) };
        if state != 0 && state.wrapping_mul(XORSHIFT_MULTIPLIER) as u32 == seed && seed != 0 {
            if found.is_some() {
                return None;
            }
            found = Some(at);
        }
    }
    found
}

fn write_seeds(time_origin: f64, random: u64, hash: Option<u32>) {
    let at = VM.get().seeds.get();
    // SAFETY: `find_seeds` proved the place; `time_origin` is the word before.
    unsafe {
        *((at - 8) as *mut f64) = time_origin;
        *(at as *mut u64) = random.max(1);
        if let Some(hash) = hash {
            *((at + 8) as *mut u32) = hash;
        }
    }
}

fn reseed(fresh: bool) {
    let mut bytes = [0; 16];
    entropy(&mut bytes);
    let (random, hash) = bytes.split_at(8);
    let random = u64::from_le_bytes(random.try_into().expect("eight bytes"));
    let hash = u32::from_le_bytes(hash[..4].try_into().expect("four bytes"));
    // A restored VM has maps whose buckets depend on its seed.
    write_seeds(0.0, random, fresh.then_some(hash));
}

// ---- legs ----

fn begin(leg: &Leg, fetcher: Fetcher) {
    let vm = VM.get();
    *vm.leg.borrow_mut() = leg.clone();
    vm.stop.set(None);
    vm.fetcher.set(fetcher);
    tools::forget_names();
    // SAFETY: J1.
    unsafe { qjs::JS_UpdateStackTop(vm.rt.get()) };
    // The template does not count towards the guest's limit.
    let base = snapshot::template_used();
    arena::set_limit(base.saturating_add(leg.memory_limit as usize));
}

/// Begins a cell in a fresh fork and runs it until it is idle.
pub fn start(start: &Start, fetcher: Fetcher) -> FromWorker {
    *VM.get().cell.borrow_mut() = Cell::default();
    begin(&start.leg, fetcher);
    reseed(true);
    cell(|c| c.output_used = start.leg.output_used);
    let options = Options {
        typescript: start.typescript,
        allow_javascript: start.allow_javascript,
        allow_typescript: start.allow_typescript,
    };
    let prepared = match codemode_source::prepare(&start.code, &options) {
        Ok(prepared) => prepared,
        Err(refusal) => {
            return FromWorker::Failed(Failed {
                code: "invalid_input".into(),
                limit: if refusal.source_limit { "source".into() } else { String::new() },
                message: refusal.message,
                location: refusal.location,
                ..Failed::default()
            });
        }
    };
    cell(|c| {
        c.warnings = prepared.warnings;
        c.position_map = prepared.map.to_bytes();
    });
    if let Err(failed) = install(&start.globals).and_then(|()| launch(&prepared.script)) {
        return fail(if stopped() { stopped_failure() } else { failed });
    }
    run_jobs();
    conclude()
}

/// Defines the globals that only some runs have.
fn install(globals: &[u8]) -> Result<(), Failed> {
    let engine = |_: DecodeError| Failed {
        code: "internal_error".into(),
        message: "the run's globals could not be set up".into(),
        ..Failed::default()
    };
    if matches!(globals, [] | [0] | [8, 0, 0, 0, 0]) {
        return Ok(());
    }
    let spec = values::decode(globals).map_err(engine)?;
    helper("install").call(UNDEFINED, &[spec.raw()]).map_err(|t| engine(t.into()))?;
    Ok(())
}

fn launch(script: &str) -> Result<(), Failed> {
    let compiled = eval(script, SCRIPT_FILE);
    let function = match compiled {
        Ok(f) => f,
        Err(Thrown) => return Err(failure::not_compiled(take_exception().raw())),
    };
    match function.call(UNDEFINED, &[]) {
        Ok(promise) => cell(|c| c.main = promise.into_raw()),
        Err(Thrown) => return Err(failure::uncaught(take_exception().raw())),
    }
    // SAFETY: J1. The outcome is read by `conclude`; it is not an unhandled rejection.
    unsafe { qjs::JS_PromiseMarkAsHandled(ctx(), cell(|c| c.main)) };
    Ok(())
}

/// Restores a cell into a fresh fork, settles what ended meanwhile, and runs it until idle.
pub fn resume(resume: &Resume, fetcher: Fetcher) -> FromWorker {
    let tables = match snapshot::restore(&resume.image) {
        Ok(tables) => tables,
        Err(e) => return refused(e),
    };
    let Some(restored) = Cell::from_bytes(&tables) else { return refused(RestoreError::Damaged) };
    *VM.get().cell.borrow_mut() = restored;
    begin(&resume.leg, fetcher);
    reseed(false);
    if resume.release_yields {
        for resolve in cell(|c| std::mem::take(&mut c.yields)) {
            drop(Js::own(resolve).call(UNDEFINED, &[UNDEFINED]));
        }
        run_jobs();
    }
    settle(&resume.settlements)
}

fn refused(e: RestoreError) -> FromWorker {
    let code = if e == RestoreError::Damaged { "internal_error" } else { "runtime_unavailable" };
    FromWorker::Failed(Failed {
        code: code.into(),
        message: format!("the suspended program could not be restored: {e}"),
        ..Failed::default()
    })
}

/// Settles calls in the given order, running the guest after each, then due timers.
pub fn settle(settlements: &[Settlement]) -> FromWorker {
    for settlement in settlements {
        if stopped() || check_time() {
            break;
        }
        settle_one(settlement);
        run_jobs();
    }
    run_due_timers();
    conclude()
}

fn settle_one(settlement: &Settlement) {
    let Some(call) = cell(|c| c.calls.remove(&settlement.id)) else { return };
    let (resolve, reject, made) =
        (Js::own(call.resolve), Js::own(call.reject), Js::own(call.error));
    let value = match values::decode(&settlement.value) {
        Ok(value) => value,
        Err(e) => {
            let error = new_error(&format!("the result could not be taken over: {e}"));
            drop(reject.call(UNDEFINED, &[error.raw()]));
            return;
        }
    };
    if settlement.ok {
        drop(resolve.call(UNDEFINED, &[value.raw()]));
        return;
    }
    let message = value.get("message").and_then(|m| m.to_text()).unwrap_or_default();
    let error = bridge::error_of(made.raw(), &message);
    let flags = (qjs::JS_PROP_WRITABLE | qjs::JS_PROP_CONFIGURABLE) as i32;
    for (name, enumerable) in [("name", false), ("runId", true), ("status", true)] {
        if let Ok(field) = value.get(name)
            && !field.is_undefined()
        {
            let more = if enumerable { qjs::JS_PROP_ENUMERABLE as i32 } else { 0 };
            error.define(name, field, flags | more);
        }
    }
    drop(reject.call(UNDEFINED, &[error.raw()]));
}

fn run_jobs() {
    let rt = VM.get().rt.get();
    loop {
        if stopped() || check_time() {
            return;
        }
        let mut context = ptr::null_mut();
        // SAFETY: J1.
        match unsafe { qjs::JS_ExecutePendingJob(rt, &raw mut context) } {
            0 => return,
            n if n < 0 => drop(take_exception()),
            _ => {}
        }
    }
}

fn run_due_timers() {
    loop {
        if stopped() || check_time() {
            return;
        }
        let now = epoch_micros();
        let due = cell(|c| {
            let key = c.timers.first_key_value().map(|(k, _)| *k).filter(|k| k.0 <= now)?;
            c.timers.remove(&key)
        });
        let Some(f) = due else { return };
        let f = Js::own(f);
        if f.call(UNDEFINED, &[]).is_err() {
            let error = take_exception();
            if !stopped() {
                let text = failure::one_line(error.raw());
                cell(|c| c.warnings.push(format!("uncaught in a timer: {text}")));
            }
        }
        run_jobs();
    }
}

// ---- the end of a turn ----

fn conclude() -> FromWorker {
    if stopped() {
        return fail(stopped_failure());
    }
    let main = cell(|c| c.main);
    // SAFETY: J1.
    let state = unsafe { qjs::JS_PromiseState(ctx(), main) };
    let outstanding = cell(|c| c.calls.len());
    match state {
        qjs::JSPromiseStateEnum_JS_PROMISE_REJECTED => {
            // SAFETY: J1.
            let reason = Js::own(unsafe { qjs::JS_PromiseResult(ctx(), main) });
            let failed = failure::uncaught(reason.raw());
            if stopped() { fail(stopped_failure()) } else { fail(failed) }
        }
        qjs::JSPromiseStateEnum_JS_PROMISE_FULFILLED if outstanding == 0 => finish(main),
        qjs::JSPromiseStateEnum_JS_PROMISE_FULFILLED => suspended(true),
        _ if outstanding > 0 || cell(|c| !c.timers.is_empty() || !c.yields.is_empty()) => {
            suspended(false)
        }
        _ => fail(Failed {
            code: "internal_error".into(),
            message: "the program awaits a promise that nothing can settle: there is nothing left to wait for (no nested call, no timer). Check for a missing resolve(), or await the call itself.".into(),
            ..Failed::default()
        }),
    }
}

fn suspended(main_settled: bool) -> FromWorker {
    let now = epoch_micros();
    FromWorker::Suspended(cell(|c| Suspended {
        requests: std::mem::take(&mut c.requests),
        output: std::mem::take(&mut c.output),
        output_used: c.output_used,
        timer_ms: if main_settled {
            None
        } else {
            c.timers.first_key_value().map(|((due, _), _)| due.saturating_sub(now).div_ceil(1000))
        },
        yielded: {
            c.request_bytes = 0;
            c.yielded.take()
        },
        main_settled,
    }))
}

fn finish(main: JSValue) -> FromWorker {
    // SAFETY: J1.
    let value = Js::own(unsafe { qjs::JS_PromiseResult(ctx(), main) });
    let leg = leg();
    let used = cell(|c| c.output_used);
    let room = leg.max_output.saturating_sub(used);
    let mut out = Encoder::new();
    let mut encoded = values::encode(value.raw(), &mut out, room);
    if matches!(encoded, Err(Refused::Budget)) && leg.truncate_output {
        let room = room.max(VALUE_RESERVE);
        out = Encoder::new();
        encoded = values::encode_prefix(value.raw(), &mut out, room);
        let kept = out.json_len();
        let mut whole = Encoder::new();
        if values::encode(value.raw(), &mut whole, u64::MAX).is_ok() {
            let omitted = whole.json_len().saturating_sub(kept);
            if omitted == 0 {
                out = whole;
            } else {
                cell(|c| {
                    c.warnings.push(format!(
                        "the value was cut at the output limit: {omitted} bytes of JSON omitted"
                    ));
                });
            }
        }
    }
    if stopped() {
        return fail(stopped_failure());
    }
    let notes = match encoded {
        Ok(notes) => notes,
        Err(Refused::Thrown) => return fail(failure::uncaught(take_exception().raw())),
        Err(Refused::Shape(why)) => {
            return fail(Failed {
                code: "internal_error".into(),
                message: format!("the returned value cannot be sent: {why}"),
                ..Failed::default()
            });
        }
        Err(Refused::Budget) => {
            VM.get().stop.set(Some(Stop::Output));
            return fail(stopped_failure());
        }
    };
    let mut warnings = take_warnings();
    warnings.extend(notes.warnings("the returned value"));
    if value.is_undefined() {
        warnings.push(
            "the program returned nothing; end it with `return value` to get a result".into(),
        );
    }
    if cell(|c| !c.requests.is_empty()) {
        warnings
            .push("nested calls made while the returned value was read were not dispatched".into());
    }
    let output_used = used + out.json_len();
    FromWorker::Finished(Finished {
        value: out.into_bytes(),
        output: cell(|c| std::mem::take(&mut c.output)),
        warnings,
        output_used,
        reusable: reusable(),
    })
}

fn take_warnings() -> Vec<String> {
    let mut warnings = cell(|c| std::mem::take(&mut c.warnings));
    let rejections = cell(|c| std::mem::take(&mut c.rejections));
    for (promise, reason) in rejections {
        let (_promise, reason) = (Js::own(promise), Js::own(reason));
        if !stopped() {
            warnings.push(format!("unhandled rejection: {}", failure::one_line(reason.raw())));
        }
    }
    let dropped = cell(|c| std::mem::take(&mut c.rejections_dropped));
    if dropped > 0 {
        warnings.push(format!("unhandled rejections: {dropped} more"));
    }
    let mut seen: Vec<(String, usize)> = Vec::new();
    for text in warnings {
        match seen.iter_mut().find(|(known, _)| *known == text) {
            Some((_, count)) => *count += 1,
            None => seen.push((text, 1)),
        }
    }
    let mut warnings: Vec<String> = seen
        .into_iter()
        .map(|(text, count)| if count > 1 { format!("{text} ({count} times)") } else { text })
        .collect();
    if warnings.len() > 32 {
        let more = warnings.len() - 32;
        warnings.truncate(32);
        warnings.push(format!("{more} more warnings"));
    }
    warnings
}

fn fail(mut failed: Failed) -> FromWorker {
    failed.output = cell(|c| std::mem::take(&mut c.output));
    // No guest code may run after a limit, so only texts that are already there are told.
    failed.warnings =
        if stopped() { cell(|c| std::mem::take(&mut c.warnings)) } else { take_warnings() };
    FromWorker::Failed(failed)
}

fn stopped_failure() -> Failed {
    let leg = leg();
    let (code, limit, message) = match VM.get().stop.get() {
        Some(Stop::Memory) => (
            "internal_error",
            "memory",
            format!(
                "the program used more than its limit of {} bytes of memory; keep less at once, or work in smaller batches",
                leg.memory_limit
            ),
        ),
        Some(Stop::Output) => (
            "output_limit_exceeded",
            "output",
            format!(
                "output and value together are over {} bytes of JSON; return or print only what is needed",
                leg.max_output
            ),
        ),
        Some(Stop::Time) | None => (
            "timeout",
            "time",
            "the program was still running at its time limit; do less per exec".to_owned(),
        ),
    };
    Failed { code: code.into(), limit: limit.into(), message, ..Failed::default() }
}

/// Takes the image of the suspended cell.
pub fn suspend() -> FromWorker {
    // SAFETY: J1; between jobs, so no native frame of the engine is live.
    unsafe { qjs::JS_RunGC(VM.get().rt.get()) };
    let tables = VM.get().cell.borrow().to_bytes();
    let max = VM.get().leg.borrow().max_snapshot;
    match snapshot::take(&tables, max) {
        Ok((bytes, uncompressed)) => FromWorker::Image { bytes, uncompressed },
        Err(snapshot::TooLarge(size)) => FromWorker::Failed(Failed {
            code: "snapshot_limit_exceeded".into(),
            limit: "snapshot".into(),
            message: format!(
                "the suspended program holds about {size} bytes, over the limit of {max}; drop large values before a slow call or yield_control()"
            ),
            warnings: take_warnings(),
            ..Failed::default()
        }),
    }
}

/// Memory above the template that is worth clearing for another cell, bytes.
const RECYCLE_MAX: usize = 2 << 20;

/// Whether the process may serve another cell: no limit has fired, and there is not too much to
/// clear.
fn reusable() -> bool {
    !stopped() && snapshot::grown() <= RECYCLE_MAX
}

/// Puts the process back to the template.
pub fn reset() {
    *VM.get().cell.borrow_mut() = Cell::default();
    VM.get().stop.set(None);
    arena::set_limit(usize::MAX);
    snapshot::reset();
    tools::forget_names();
}
