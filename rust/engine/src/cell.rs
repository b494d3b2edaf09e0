//! What a cell keeps outside the arena: tables of guest values that the host side needs between
//! turns. An image carries them beside the pages.
//!
//! Guest values here own one reference each; their pointers mean the same in every process of
//! the same build, because the arena and the executable lie at fixed addresses.
#![allow(unsafe_code)]

use std::borrow::Cow;
use std::collections::BTreeMap;

use codemode_wire::Request;
use rquickjs_sys::{JSValue, JSValueUnion};

use crate::js::UNDEFINED;

/// One nested call that the guest waits for.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub(crate) resolve: JSValue,
    pub(crate) reject: JSValue,
    /// Made where the call was made, so that its frames are the caller's.
    pub(crate) error: JSValue,
    /// Bytes that the host holds for it.
    pub(crate) size: usize,
}

/// State between turns.
pub(crate) struct Cell {
    pub(crate) last_call: u32,
    pub(crate) calls: BTreeMap<u32, Call>,
    /// The sizes of all of them.
    pub(crate) held: usize,
    pub(crate) yields: Vec<JSValue>,
    pub(crate) last_timer: u32,
    /// By due time (microseconds since the epoch) and id.
    pub(crate) timers: BTreeMap<(u64, u32), JSValue>,
    /// The promise of the program.
    pub(crate) main: JSValue,
    /// Rejected promises without a handler, and their reasons.
    pub(crate) rejections: Vec<(JSValue, JSValue)>,
    pub(crate) rejections_dropped: u32,
    /// `tools.<name>` functions that were looked at, by tool id.
    pub(crate) tool_functions: BTreeMap<String, JSValue>,
    pub(crate) output_used: u64,
    /// Items that came when the output was full and may be cut, and their bytes.
    pub(crate) omitted_items: u64,
    pub(crate) omitted_bytes: u64,
    pub(crate) warnings: Vec<String>,
    pub(crate) position_map: Vec<u8>,
    /// Names of `tools.<name>` that were read and do not exist, newest last.
    pub(crate) missed_names: Vec<String>,
    // Of the current turn only.
    pub(crate) requests: Vec<Request<'static>>,
    pub(crate) request_bytes: usize,
    /// Of this leg.
    pub(crate) output_bytes: usize,
    /// Values that this turn carries.
    pub(crate) turn_values: usize,
    pub(crate) output: Vec<Cow<'static, [u8]>>,
    pub(crate) yielded: Option<String>,
}

impl Cell {
    pub(crate) const EMPTY: Self = Self {
        last_call: 0,
        calls: BTreeMap::new(),
        held: 0,
        yields: Vec::new(),
        last_timer: 0,
        timers: BTreeMap::new(),
        main: UNDEFINED,
        rejections: Vec::new(),
        rejections_dropped: 0,
        tool_functions: BTreeMap::new(),
        output_used: 0,
        omitted_items: 0,
        omitted_bytes: 0,
        warnings: Vec::new(),
        position_map: Vec::new(),
        missed_names: Vec::new(),
        requests: Vec::new(),
        request_bytes: 0,
        output_bytes: 0,
        turn_values: 0,
        output: Vec::new(),
        yielded: None,
    };
}

impl Default for Cell {
    fn default() -> Self {
        Self::EMPTY
    }
}

struct Writer(Vec<u8>);

impl Writer {
    fn num(&mut self, v: u64) {
        self.0.extend_from_slice(&v.to_le_bytes());
    }
    fn bytes(&mut self, v: &[u8]) {
        self.num(v.len() as u64);
        self.0.extend_from_slice(v);
    }
    fn value(&mut self, v: JSValue) {
        // SAFETY: every member of the union is at most eight plain bytes.
        self.num(unsafe { v.u.ptr } as u64);
        self.num(v.tag as u64);
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn num(&mut self) -> Option<u64> {
        let (head, tail) = self.0.split_first_chunk::<8>()?;
        self.0 = tail;
        Some(u64::from_le_bytes(*head))
    }
    fn bytes(&mut self) -> Option<&'a [u8]> {
        let n = usize::try_from(self.num()?).ok()?;
        let (head, tail) = self.0.split_at_checked(n)?;
        self.0 = tail;
        Some(head)
    }
    fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }
    fn value(&mut self) -> Option<JSValue> {
        let ptr = self.num()? as *mut std::ffi::c_void;
        let tag = self.num()? as i64;
        Some(JSValue { u: JSValueUnion { ptr }, tag })
    }
    /// Counts stand before things of at least eight bytes.
    fn count(&mut self) -> Option<usize> {
        let n = usize::try_from(self.num()?).ok()?;
        (n <= self.0.len() / 8).then_some(n)
    }
}

impl Cell {
    /// The part of an image that is not pages.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut w = Writer(Vec::with_capacity(256));
        w.num(u64::from(self.last_call));
        w.num(u64::from(self.last_timer));
        w.num(self.output_used);
        w.num(self.omitted_items);
        w.num(self.omitted_bytes);
        w.num(u64::from(self.rejections_dropped));
        w.value(self.main);
        w.num(self.calls.len() as u64);
        for (id, call) in &self.calls {
            w.num(u64::from(*id));
            w.value(call.resolve);
            w.value(call.reject);
            w.value(call.error);
            w.num(call.size as u64);
        }
        w.num(self.yields.len() as u64);
        for y in &self.yields {
            w.value(*y);
        }
        w.num(self.timers.len() as u64);
        for ((due, id), f) in &self.timers {
            w.num(*due);
            w.num(u64::from(*id));
            w.value(*f);
        }
        w.num(self.rejections.len() as u64);
        for (promise, reason) in &self.rejections {
            w.value(*promise);
            w.value(*reason);
        }
        w.num(self.tool_functions.len() as u64);
        for (id, f) in &self.tool_functions {
            w.bytes(id.as_bytes());
            w.value(*f);
        }
        w.num(self.warnings.len() as u64);
        for text in &self.warnings {
            w.bytes(text.as_bytes());
        }
        w.num(self.missed_names.len() as u64);
        for text in &self.missed_names {
            w.bytes(text.as_bytes());
        }
        w.bytes(&self.position_map);
        w.0
    }

    /// Reads what [`Cell::to_bytes`] wrote; `None` if it is damaged.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut r = Reader(bytes);
        let mut cell = Self {
            last_call: u32::try_from(r.num()?).ok()?,
            last_timer: u32::try_from(r.num()?).ok()?,
            output_used: r.num()?,
            omitted_items: r.num()?,
            omitted_bytes: r.num()?,
            rejections_dropped: u32::try_from(r.num()?).ok()?,
            main: r.value()?,
            ..Self::default()
        };
        for _ in 0..r.count()? {
            let id = u32::try_from(r.num()?).ok()?;
            let call = Call {
                resolve: r.value()?,
                reject: r.value()?,
                error: r.value()?,
                size: usize::try_from(r.num()?).ok()?,
            };
            cell.held = cell.held.checked_add(call.size)?;
            cell.calls.insert(id, call);
        }
        for _ in 0..r.count()? {
            cell.yields.push(r.value()?);
        }
        for _ in 0..r.count()? {
            let key = (r.num()?, u32::try_from(r.num()?).ok()?);
            cell.timers.insert(key, r.value()?);
        }
        for _ in 0..r.count()? {
            cell.rejections.push((r.value()?, r.value()?));
        }
        for _ in 0..r.count()? {
            cell.tool_functions.insert(r.text()?, r.value()?);
        }
        for _ in 0..r.count()? {
            cell.warnings.push(r.text()?);
        }
        for _ in 0..r.count()? {
            cell.missed_names.push(r.text()?);
        }
        cell.position_map = r.bytes()?.to_vec();
        r.0.is_empty().then_some(cell)
    }
}
