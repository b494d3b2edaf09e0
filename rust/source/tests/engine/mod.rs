//! The engine that runs the scripts, as little of it as the tests need.
#![allow(unsafe_code, dead_code, unreachable_pub)]

use std::ffi::{CStr, CString, c_char};

use codemode_source::{Options, Prepared, Refusal, prepare};
use rquickjs_sys as qjs;

pub const JAVASCRIPT: Options =
    Options { typescript: false, allow_javascript: true, allow_typescript: true };
pub const TYPESCRIPT: Options = Options { typescript: true, ..JAVASCRIPT };

pub fn javascript(code: &str) -> Result<Prepared, Refusal> {
    prepare(code, &JAVASCRIPT)
}

/// Prepares and runs; the JSON of what the cell returns.
pub fn value_of(code: &str, options: Options) -> Result<String, String> {
    let prepared = prepare(code, &options).map_err(|r| format!("refused: {}", r.message))?;
    Engine::new().run(&prepared.script)
}

pub struct Engine {
    runtime: *mut qjs::JSRuntime,
    context: *mut qjs::JSContext,
}

impl Engine {
    pub fn new() -> Self {
        // SAFETY: both are freed in `drop`, in reverse order; no value outlives a method.
        unsafe {
            let runtime = qjs::JS_NewRuntime();
            qjs::JS_SetMaxStackSize(runtime, 512 * 1024);
            Self { runtime, context: qjs::JS_NewContext(runtime) }
        }
    }

    fn eval(&self, code: &str, flags: u32) -> Result<qjs::JSValue, String> {
        let input = CString::new(code).map_err(|_| "a NUL in the source".to_owned())?;
        let mut options = qjs::JSEvalOptions {
            version: qjs::JS_EVAL_OPTIONS_VERSION.cast_signed(),
            eval_flags: flags.cast_signed(),
            filename: c"cell".as_ptr(),
            line_num: 1,
        };
        // SAFETY: `input` lives through the call and is followed by a NUL, as the engine asks.
        let value = unsafe {
            qjs::JS_Eval2(self.context, input.as_ptr(), code.len() as _, &raw mut options)
        };
        // SAFETY: the value is one of this context.
        if unsafe { qjs::JS_IsException(value) } {
            // SAFETY: an exception is pending.
            let error = unsafe { qjs::JS_GetException(self.context) };
            let text = self.text(error);
            // SAFETY: owned.
            let stack = unsafe { qjs::JS_GetPropertyStr(self.context, error, c"stack".as_ptr()) };
            let text = format!("{text}\n{}", self.text(stack));
            self.free(stack);
            self.free(error);
            return Err(text);
        }
        Ok(value)
    }

    /// Whether the engine compiles a script.
    pub fn compile(&self, script: &str) -> Result<(), String> {
        self.eval(script, qjs::JS_EVAL_FLAG_COMPILE_ONLY).map(|v| self.free(v))
    }

    /// Runs a cell and all its jobs; the JSON of its result, or its error with the stack.
    pub fn run(&self, script: &str) -> Result<String, String> {
        let cell = self.eval(script, 0)?;
        // SAFETY: both values are of this context; setting the property takes `cell`.
        unsafe {
            let global = qjs::JS_GetGlobalObject(self.context);
            qjs::JS_SetPropertyStr(self.context, global, c"__cell".as_ptr(), cell);
            self.free(global);
        }
        let driver = "globalThis.__out = 'E never settled'; __cell().then(\
             v => { __out = 'V' + (JSON.stringify(v) ?? 'null') },\
             e => { __out = 'E' + e + '\\n' + (e?.stack ?? '') })";
        self.eval(driver, 0).map(|v| self.free(v))?;
        let mut context = std::ptr::null_mut();
        // SAFETY: the runtime is live.
        while unsafe { qjs::JS_ExecutePendingJob(self.runtime, &raw mut context) } > 0 {}
        let out = self.eval("__out", 0)?;
        let text = self.text(out);
        self.free(out);
        match text.split_at_checked(1) {
            Some(("V", value)) => Ok(value.to_owned()),
            _ => Err(text[1..].to_owned()),
        }
    }

    fn text(&self, value: qjs::JSValue) -> String {
        // SAFETY: the string is copied before it is given back.
        unsafe {
            let text: *const c_char = qjs::JS_ToCString(self.context, value);
            if text.is_null() {
                return String::new();
            }
            let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
            qjs::JS_FreeCString(self.context, text);
            copy
        }
    }

    fn free(&self, value: qjs::JSValue) {
        // SAFETY: every caller owns the value that it passes.
        unsafe { qjs::JS_FreeValue(self.context, value) }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // SAFETY: made in `new`.
        unsafe {
            qjs::JS_FreeContext(self.context);
            qjs::JS_FreeRuntime(self.runtime);
        }
    }
}
