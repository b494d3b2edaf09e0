//! Compiles the prelude to the engine's bytecode: parsing it would be most of what a zygote does
//! before its first worker is ready.
#![allow(unsafe_code)]

use std::error::Error;
use std::ffi::CString;
use std::path::Path;
use std::{env, fs, ptr, slice};

use rquickjs_sys as qjs;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=guest");
    let out = env::var("OUT_DIR")?;
    for folder in ["guest", "guest/globals"] {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|e| e == "js") {
                let name = path.file_stem().and_then(|n| n.to_str()).ok_or("file name")?;
                let bytecode = compile(name, &fs::read_to_string(&path)?)?;
                fs::write(Path::new(&out).join(format!("{name}.bytecode")), bytecode)?;
            }
        }
    }
    Ok(())
}

fn compile(name: &str, source: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let len = source.len();
    let source = CString::new(source)?;
    let file = CString::new(format!("codemode:{name}"))?;
    let flags = qjs::JS_EVAL_TYPE_GLOBAL | qjs::JS_EVAL_FLAG_COMPILE_ONLY;
    // SAFETY: one runtime and context at a time, freed last; both strings are null-terminated, and
    // the bytes that the engine gives are copied before they are freed.
    unsafe {
        let runtime = qjs::JS_NewRuntime();
        let ctx = qjs::JS_NewContext(runtime);
        if ctx.is_null() {
            return Err("the engine did not start".into());
        }
        let script = qjs::JS_Eval(ctx, source.as_ptr(), len as _, file.as_ptr(), flags as _);
        if qjs::JS_IsException(script) {
            let error = qjs::JS_GetException(ctx);
            let text = qjs::JS_ToCString(ctx, error);
            let text = std::ffi::CStr::from_ptr(text).to_string_lossy().into_owned();
            return Err(format!("{name}.js: {text}").into());
        }
        let mut size = 0;
        let written = qjs::JS_WriteObject(
            ctx,
            ptr::from_mut(&mut size),
            script,
            qjs::JS_WRITE_OBJ_BYTECODE as _,
        );
        if written.is_null() {
            return Err(format!("{name}.js: no bytecode").into());
        }
        let bytecode = slice::from_raw_parts(written, size as usize).to_vec();
        qjs::js_free(ctx, written.cast());
        qjs::JS_FreeValue(ctx, script);
        qjs::JS_FreeContext(ctx);
        qjs::JS_FreeRuntime(runtime);
        Ok(bytecode)
    }
}
