//! Takes the template's objects out of the garbage collector's list.
//!
//! They live as long as the VM, so a collection that visits them finds nothing, and each visit
//! writes to them: after a fork that is a copy of almost every page of the template. Left out of
//! the list they are what keeps other objects alive, like the stack; their own counts go on.
//!
//! The engine has no call for this. The list is found from one of its members, as the only node
//! that does not lie in an object but in the runtime, and every link is checked on the way.
#![allow(unsafe_code)]

use crate::arena::{self, BASE, SIZE};
use crate::js;
use crate::vm::{VM, ctx};

/// The engine's `list_head`; an object begins with one.
#[repr(C)]
struct Node {
    previous: *mut Node,
    next: *mut Node,
}

const MOST_OBJECTS: usize = 1 << 20;

/// Moves all objects that exist now to a list that nobody walks; whether their list was found.
pub(crate) fn retire() -> bool {
    let runtime = VM.get().rt.get() as usize;
    // SAFETY: the runtime is a live block of the arena.
    let runtime = runtime..runtime + unsafe { arena::usable_size(runtime as *const _) } as usize;
    let in_arena = |node: *mut Node| {
        let at = node as usize;
        (BASE..BASE + SIZE - size_of::<Node>()).contains(&at) && at.is_multiple_of(8)
    };
    // SAFETY: J1; the global object lives as long as the context. Nodes are read only after
    // `in_arena`, where everything is mapped. The two lists are closed before the engine runs on.
    unsafe {
        let global = js::Js::own(rquickjs_sys::JS_GetGlobalObject(ctx()));
        let start = js::pointer(global.raw()) as *mut Node;
        let mut head: *mut Node = std::ptr::null_mut();
        let mut node = start;
        for _ in 0..MOST_OBJECTS {
            let next = if in_arena(node) { (*node).next } else { return false };
            if !in_arena(next) || (*next).previous != node {
                return false;
            }
            if runtime.contains(&(next as usize)) {
                if !head.is_null() {
                    return false;
                }
                head = next;
            }
            node = next;
            if node == start {
                break;
            }
        }
        let elders = arena::malloc(std::ptr::null_mut(), size_of::<Node>() as _).cast::<Node>();
        if node != start || head.is_null() || elders.is_null() {
            return false;
        }
        let (first, last) = ((*head).next, (*head).previous);
        elders.write(Node { previous: last, next: first });
        (*first).previous = elders;
        (*last).next = elders;
        head.write(Node { previous: head, next: head });
    }
    true
}
