//! The end of a turn: what the host is told.
//!
//! `unsafe` blocks cite the invariants of [`crate::js`].
#![allow(unsafe_code)]

use codemode_wire::{Encoder, Failed, Finished, FromWorker, Suspended};
use rquickjs_sys as qjs;

use crate::failure;
use crate::js::{JSValue, Js, take_exception};
use crate::snapshot;
use crate::values::{self, Refused};
use crate::vm::{Stop, VM, cell, ctx, epoch_micros, leg, stopped, warn};

/// Output left for the final value when earlier output was cut, bytes of JSON.
const VALUE_RESERVE: u64 = 256;
/// Memory above the template that is worth clearing for another cell, bytes.
const RECYCLE_MAX: usize = 2 << 20;
/// Warnings that are compared with each other.
const COMPARED: usize = 1024;

/// Whether the process may serve another cell: no limit has fired, and there is not too much to
/// clear.
fn reusable() -> bool {
    !stopped() && snapshot::grown() <= RECYCLE_MAX
}

pub(crate) fn conclude() -> FromWorker<'static> {
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

fn suspended(main_settled: bool) -> FromWorker<'static> {
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
            c.turn_values = 0;
            c.yielded.take()
        },
        main_settled,
    }))
}

fn finish(main: JSValue) -> FromWorker<'static> {
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
        let mut whole = Encoder::counter();
        let omitted = match values::encode(value.raw(), &mut whole, u64::MAX) {
            Ok(_) => whole.json_len().saturating_sub(out.json_len()).to_string(),
            // Too much to be measured.
            Err(Refused::Shape(_) | Refused::Budget) => {
                format!("more than {}", whole.json_len().saturating_sub(out.json_len()))
            }
            Err(Refused::Thrown) => {
                drop(take_exception());
                "some".into()
            }
        };
        if omitted != "0" {
            warn(vec![format!(
                "the value was cut at the output limit: {omitted} bytes of JSON omitted"
            )]);
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
            "the program returned nothing: it has no `return value` at its end, or that value is undefined".into(),
        );
    }
    if cell(|c| !c.requests.is_empty()) {
        warnings
            .push("nested calls made while the returned value was read were not dispatched".into());
    }
    let output_used = used + out.json_len();
    FromWorker::Finished(Finished {
        value: out.into_bytes().into(),
        output: cell(|c| std::mem::take(&mut c.output)),
        warnings,
        output_used,
        reusable: reusable(),
    })
}

pub(crate) fn take_warnings() -> Vec<String> {
    let mut warnings = cell(|c| std::mem::take(&mut c.warnings));
    let rejections = cell(|c| std::mem::take(&mut c.rejections));
    for (promise, reason) in rejections {
        let (_promise, reason) = (Js::own(promise), Js::own(reason));
        if !stopped() {
            warnings.push(format!("unhandled rejection: {}", failure::one_line(reason.raw())));
        }
    }
    let (items, bytes) =
        cell(|c| (std::mem::take(&mut c.omitted_items), std::mem::take(&mut c.omitted_bytes)));
    if items > 0 {
        warnings.push(format!(
            "{items} more output items were omitted at the output limit: {bytes} bytes"
        ));
    }
    let dropped = cell(|c| std::mem::take(&mut c.rejections_dropped));
    if dropped > 0 {
        warnings.push(format!("unhandled rejections: {dropped} more"));
    }
    summed(warnings)
}

/// Each text once, and not too many of them.
fn summed(mut warnings: Vec<String>) -> Vec<String> {
    let unread = warnings.len().saturating_sub(COMPARED);
    warnings.truncate(COMPARED);
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
    if warnings.len() + unread > 32 {
        let more = warnings.len() + unread - 32;
        warnings.truncate(32);
        warnings.push(format!("{more} more warnings"));
    }
    warnings
}

pub(crate) fn fail(mut failed: Failed<'static>) -> FromWorker<'static> {
    failed.output = cell(|c| std::mem::take(&mut c.output));
    // No guest code may run after a limit, so only texts that are already there are told.
    failed.warnings =
        if stopped() { summed(cell(|c| std::mem::take(&mut c.warnings))) } else { take_warnings() };
    FromWorker::Failed(failed)
}

pub(crate) fn stopped_failure() -> Failed<'static> {
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
