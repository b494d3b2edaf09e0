//! One leg of a cell: start or resume, settle, suspend.
//!
//! `unsafe` blocks cite the invariants of [`crate::js`].
#![allow(unsafe_code)]

use std::ptr;

use codemode_source::Options;
use codemode_wire::{Failed, FromWorker, Leg, Request, Resume, Settlement, Start};
use rquickjs_sys as qjs;

use crate::cell::Cell;
use crate::failure::{self, SCRIPT_FILE};
use crate::image::RestoreError;
use crate::js::{Js, Thrown, UNDEFINED, new_error, take_exception};
use crate::outcome::{conclude, fail, stopped_failure, take_warnings};
use crate::snapshot;
use crate::template::reseed;
use crate::values::{self, DecodeError};
use crate::vm::{
    Fetcher, VM, cell, check_time, ctx, epoch_micros, eval, helper, monotonic_ns, reset, stopped,
};
use crate::{arena, bridge, tools};

/// Bytes that a cell may take before the engine first collects garbage; it begins at less than the
/// template takes, and would collect several times while a few megabytes are filled.
const FIRST_COLLECTION: u64 = 8 << 20;

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
pub fn start(start: &Start, fetcher: Fetcher) -> FromWorker<'static> {
    *VM.get().cell.borrow_mut() = Cell::default();
    begin(&start.leg, fetcher);
    // SAFETY: J1.
    unsafe {
        let room = (start.leg.memory_limit / 8).min(FIRST_COLLECTION);
        qjs::JS_SetGCThreshold(VM.get().rt.get(), (snapshot::template_used() as u64 + room) as _);
    }
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
fn install(globals: &[u8]) -> Result<(), Failed<'static>> {
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

fn launch(script: &str) -> Result<(), Failed<'static>> {
    let compiled = eval(script, SCRIPT_FILE);
    let function = match compiled {
        Ok(f) => f,
        Err(Thrown) => return Err(failure::not_compiled(take_exception().raw(), script)),
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
pub fn resume(resume: &Resume, fetcher: Fetcher) -> FromWorker<'static> {
    let tables = match arena::whole(|| snapshot::restore(&resume.image)) {
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

/// A program that does what most do.
const REHEARSAL: &str = r#"
const all = await Promise.all([1, 2].map((n) => tools.call("rehearsal", { n })));
text(JSON.stringify(all));
return { all, length: `${all.length}` };
"#;

/// Runs a small cell of our own and goes back to the template: whatever a cell touches is then
/// private to this process, instead of being copied while somebody waits.
pub fn rehearse() {
    let leg = Leg {
        deadline_ns: monotonic_ns() + 1_000_000_000,
        kill_ns: u64::MAX,
        memory_limit: 16 << 20,
        max_output: 1 << 10,
        ..Leg::default()
    };
    let cell = Start { leg, code: REHEARSAL.into(), allow_javascript: true, ..Start::default() };
    if let FromWorker::Suspended(turn) = start(&cell, |_| Vec::new()) {
        let null = vec![codemode_wire::Tag::Null as u8];
        let settled =
            |call: &Request<'_>| Settlement { id: call.id, ok: true, value: null.clone().into() };
        let ended = settle(&turn.requests.iter().map(settled).collect::<Vec<_>>());
        debug_assert!(matches!(ended, FromWorker::Finished(_)), "{ended:?}");
    }
    reset();
}

fn refused(e: RestoreError) -> FromWorker<'static> {
    let code = if e == RestoreError::Damaged { "internal_error" } else { "runtime_unavailable" };
    FromWorker::Failed(Failed {
        code: code.into(),
        message: format!("the suspended program could not be restored: {e}"),
        ..Failed::default()
    })
}

/// Settles calls in the given order, running the guest after each, then due timers.
pub fn settle(settlements: &[Settlement]) -> FromWorker<'static> {
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
    cell(|c| c.held = c.held.saturating_sub(call.size));
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
    // A guest may have put getters on what the value inherits.
    let read = |name| {
        value.get(name).unwrap_or_else(|Thrown| {
            drop(take_exception());
            Js::own(UNDEFINED)
        })
    };
    let message = read("message").to_text().unwrap_or_else(|Thrown| {
        drop(take_exception());
        String::new()
    });
    let error = bridge::error_of(made.raw(), &message);
    let flags = (qjs::JS_PROP_WRITABLE | qjs::JS_PROP_CONFIGURABLE) as i32;
    for (name, enumerable) in [("name", false), ("runId", true), ("status", true)] {
        let field = read(name);
        if !field.is_undefined() {
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
            // Only what `queueMicrotask` was given throws here: promises take what theirs throw.
            n if n < 0 => warn_of("a microtask"),
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
            warn_of("a timer");
        }
        run_jobs();
    }
}

/// Tells of the pending exception, which nothing in the cell can catch any more.
fn warn_of(place: &str) {
    let error = take_exception();
    if !stopped() {
        crate::vm::warn(vec![format!("uncaught in {place}: {}", failure::one_line(error.raw()))]);
    }
}

/// Takes the image of the suspended cell. `send` gets its parts but the last as whole frames, while
/// the next are made.
pub fn suspend(send: &mut dyn FnMut(&[u8])) -> FromWorker<'static> {
    // SAFETY: J1; between jobs, so no native frame of the engine is live.
    unsafe { qjs::JS_RunGC(VM.get().rt.get()) };
    let tables = VM.get().cell.borrow().to_bytes();
    let max = VM.get().leg.borrow().max_snapshot;
    match arena::whole(|| snapshot::take(&tables, max, send)) {
        Ok((bytes, uncompressed)) => FromWorker::Image { bytes: bytes.into(), uncompressed },
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
