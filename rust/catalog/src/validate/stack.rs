//! Room for the validator's recursion.

use serde_json::Value;

/// Nesting of values that every stack has room for.
const SHALLOW_VALUE: usize = 24;
/// Nesting of a check that every stack has room for.
pub(super) const SHALLOW: usize = 200;
/// Nesting of a check that a stack of its own has room for.
pub(super) const DEEP: usize = 100_000;
/// Stack for what is deeper, bytes of address space; only what is used of it becomes memory.
const DEEP_STACK: usize = 256 << 20;

/// Runs `work`, which recurses over `value` some frames to a level, where there is room for it:
/// here, or on a thread of its own that is waited for. `None` if there can be no such thread.
pub(super) fn with_room<R: Send>(value: &Value, work: impl FnOnce() -> R + Send) -> Option<R> {
    if !is_deeper(value, SHALLOW_VALUE) {
        return Some(work());
    }
    roomy(work)
}

/// Runs `work` on a thread with a large stack. `None` if there can be no such thread.
pub(super) fn roomy<R: Send>(work: impl FnOnce() -> R + Send) -> Option<R> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(DEEP_STACK).spawn_scoped(scope, work);
        thread.ok()?.join().map_err(std::panic::resume_unwind).ok()
    })
}

fn is_deeper(value: &Value, levels: usize) -> bool {
    let inside = |inner: &Value| levels == 0 || is_deeper(inner, levels - 1);
    match value {
        Value::Array(items) => items.iter().any(inside),
        Value::Object(members) => members.values().any(inside),
        _ => false,
    }
}
