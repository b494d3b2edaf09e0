//! The template VM: engine, context and prelude, built once per process.
//!
//! `unsafe` blocks cite the invariants of [`crate::js`].
#![allow(unsafe_code)]

use std::ptr;

use rquickjs_sys as qjs;

use crate::js::{EXCEPTION, JSContext, JSValue, Js, Thrown, UNDEFINED, take_exception};
use crate::vm::{VM, ctx, entropy, eval};
use crate::{arena, bridge, elders, failure, snapshot};

/// Native stack that guest code may use, of the 8 MiB that the main thread has.
const GUEST_STACK: usize = 4 << 20;

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
    #[error("the layout of the engine's structures is not as expected")]
    Layout,
}

/// One file of the prelude, compiled when this crate is built: an expression that is called with
/// `(host, define)`.
struct PreludeFile {
    name: &'static str,
    bytecode: &'static [u8],
}

macro_rules! prelude {
    ($($name:literal),* $(,)?) => {
        [$(PreludeFile {
            name: $name,
            bytecode: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".bytecode")),
        }),*]
    };
}

/// What the engine itself needs; the guest cannot replace it.
const OWN: [PreludeFile; 2] = prelude!["extras", "bridge"];
const GLOBALS: [PreludeFile; 13] = prelude![
    "base", "inspect", "console", "timers", "encoding", "urlparse", "url", "crypto", "misc",
    "locale", "collate", "dates", "clone",
];

/// Builds the template VM in this process: engine, context, prelude. `build` identifies the
/// executable; `stack` is the address range of the native stack.
pub fn build_template(build: u64, stack: std::ops::Range<usize>) -> Result<(), TemplateError> {
    arena::map()?;
    let vm = VM.get();
    // SAFETY: the first and only creation; J1 and J2 hold from here on.
    unsafe {
        let rt = qjs::JS_NewRuntime2(&raw const arena::FUNCTIONS, ptr::null_mut());
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
    for file in &OWN {
        run_prelude(file, &host, define_frozen)?;
    }
    for file in &GLOBALS {
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
    if !elders::retire() {
        return Err(TemplateError::Layout);
    }
    arena::whole(|| snapshot::seal(build, stack));
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

/// The value of a compiled script.
fn load(bytecode: &[u8]) -> Result<Js, Thrown> {
    let flags = qjs::JS_READ_OBJ_BYTECODE as i32;
    // SAFETY: J1; the bytecode was made by this very engine. Running a script uses it up.
    unsafe {
        let script = qjs::JS_ReadObject(ctx(), bytecode.as_ptr(), bytecode.len() as _, flags);
        Js::check(qjs::JS_EvalFunction(ctx(), Js::check(script)?.into_raw()))
    }
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
    let function = load(file.bytecode).map_err(fail)?;
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
            "domError",
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

/// Gives the VM random state of its own.
pub(crate) fn reseed(fresh: bool) {
    let mut bytes = [0; 16];
    entropy(&mut bytes);
    let (random, hash) = bytes.split_at(8);
    let random = u64::from_le_bytes(random.try_into().expect("eight bytes"));
    let hash = u32::from_le_bytes(hash[..4].try_into().expect("four bytes"));
    // A restored VM has maps whose buckets depend on its seed.
    write_seeds(0.0, random, fresh.then_some(hash));
}
