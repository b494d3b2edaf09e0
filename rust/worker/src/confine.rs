//! The confinement: what a child can still do once hostile code may run.
//!
//! In the zygote, inherited: no new privileges, not dumpable, own user, network, IPC and UTS
//! namespaces and an empty landlock ruleset where the system has them. In the child: own
//! session, resource limits, death with the zygote, a kernel timer that kills, and last and
//! mandatory the seccomp filter.
//!
//! Invariant: pointers passed to the kernel are to locals that outlive the call.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::RawFd;

use libc::c_long;
pub(crate) use seccompiler::BpfProgram;
use seccompiler::{
    SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

use crate::sys;

/// Descriptor of the socket in every confined child.
pub(crate) const SOCKET: RawFd = 3;

/// What the report says of the filter.
pub(crate) const SECCOMP: &str = "active in every worker";
/// Longest leg (60 s) and some; the real limit is the kill timer.
const CPU_SECONDS: u64 = 70;
const ADDRESS_SPACE: u64 = 4 << 30;
/// The engine stops guest code at half of it; whatever the host was started with.
const STACK: u64 = 8 << 20;

thread_local! {
    static TIMER: Cell<Option<libc::timer_t>> = const { Cell::new(None) };
}

/// What of the optional layers is active, for the report.
pub(crate) struct Layers {
    pub(crate) namespaces: Result<(), String>,
    pub(crate) landlock: Result<(), String>,
}

/// Confines the zygote as far as it can be and still fork.
pub(crate) fn confine_zygote() -> Result<Layers, String> {
    // SAFETY: no pointers.
    unsafe {
        must("no_new_privs", libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
        must("dumpable", libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0))?;
    }
    limit(libc::RLIMIT_CORE, 0)?;
    limit(libc::RLIMIT_AS, ADDRESS_SPACE)?;
    limit(libc::RLIMIT_STACK, STACK)?;
    // SAFETY: no pointers.
    let namespaces = sys::check(unsafe {
        libc::unshare(
            libc::CLONE_NEWUSER | libc::CLONE_NEWNET | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS,
        )
    });
    Ok(Layers { namespaces: namespaces.map(drop).map_err(|e| e.to_string()), landlock: no_files() })
}

/// An empty ruleset: no file may be opened, executed, made or removed.
fn no_files() -> Result<(), String> {
    use landlock::{ABI, Access, AccessFs, Ruleset, RulesetAttr, RulesetStatus};
    let status = Ruleset::default()
        .handle_access(AccessFs::from_all(ABI::V3))
        .and_then(landlock::Ruleset::create)
        .and_then(landlock::RulesetCreated::restrict_self)
        .map_err(|e| e.to_string())?;
    match status.ruleset {
        RulesetStatus::NotEnforced => Err("not supported by this kernel".into()),
        _ => Ok(()),
    }
}

/// The filter, compiled once in the zygote.
pub(crate) fn filter() -> Result<BpfProgram, String> {
    let arg = |index, value| {
        SeccompCondition::new(index, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, value)
    };
    let text = |e: seccompiler::BackendError| e.to_string();
    let on_socket = || {
        Ok::<_, String>(vec![
            SeccompRule::new(vec![arg(0, SOCKET as u64).map_err(text)?]).map_err(text)?,
        ])
    };
    let rules: BTreeMap<c_long, Vec<SeccompRule>> = [
        (libc::SYS_read, on_socket()?),
        (libc::SYS_write, on_socket()?),
        (libc::SYS_exit, vec![]),
        (libc::SYS_exit_group, vec![]),
        (libc::SYS_clock_gettime, vec![]),
        (libc::SYS_rt_sigreturn, vec![]),
        // Only flags 0: the ordinary, non-blocking source.
        (
            libc::SYS_getrandom,
            vec![SeccompRule::new(vec![arg(2, 0).map_err(text)?]).map_err(text)?],
        ),
        // Arms the timer that kills this very process.
        (libc::SYS_timer_settime, vec![]),
    ]
    .into_iter()
    .collect();
    let arch = std::env::consts::ARCH.try_into().map_err(text)?;
    SeccompFilter::new(rules, SeccompAction::KillProcess, SeccompAction::Allow, arch)
        .and_then(TryInto::try_into)
        .map_err(text)
}

/// Seals a fresh child. After this only the calls of [`filter`] are left.
pub(crate) fn seal(zygote: i32, filter: &BpfProgram) -> Result<(), String> {
    // SAFETY: see the module.
    unsafe {
        must("session", libc::setsid())?;
        must("death with parent", libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0))?;
        if libc::getppid() != zygote {
            // The host sees the end of the zygote itself, and starts another.
            sys::exit(0);
        }
        let mut event: libc::sigevent = std::mem::zeroed();
        event.sigev_notify = libc::SIGEV_SIGNAL;
        event.sigev_signo = libc::SIGKILL;
        let mut timer: libc::timer_t = std::mem::zeroed();
        must(
            "kill timer",
            libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer),
        )?;
        TIMER.set(Some(timer));
    }
    limit(libc::RLIMIT_CPU, CPU_SECONDS)?;
    limit(libc::RLIMIT_FSIZE, 0)?;
    limit(libc::RLIMIT_NPROC, 0)?;
    limit(libc::RLIMIT_NOFILE, 0)?;
    seccompiler::apply_filter(filter).map_err(|e| format!("seccomp: {e}"))
}

/// Lets the kernel kill this process at `at_ns` of `CLOCK_MONOTONIC`, whatever it runs then.
pub(crate) fn arm_kill_timer(at_ns: u64) {
    let Some(timer) = TIMER.get() else { return };
    let at = libc::timespec {
        tv_sec: (at_ns / 1_000_000_000) as i64,
        tv_nsec: (at_ns % 1_000_000_000) as i64,
    };
    let zero = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let spec = libc::itimerspec { it_interval: zero, it_value: at };
    // SAFETY: see the module.
    let status = unsafe {
        libc::timer_settime(timer, libc::TIMER_ABSTIME, &raw const spec, std::ptr::null_mut())
    };
    if status < 0 {
        sys::exit(71);
    }
}

/// Between two cells nothing runs that could be late.
pub(crate) fn disarm_kill_timer() {
    arm_kill_timer(0);
}

fn limit(which: libc::__rlimit_resource_t, value: u64) -> Result<(), String> {
    let limit = libc::rlimit { rlim_cur: value, rlim_max: value };
    // SAFETY: see the module.
    must("resource limit", unsafe { libc::setrlimit(which, &raw const limit) })
}

fn must(what: &str, status: i32) -> Result<(), String> {
    if status < 0 {
        let e: io::Error = sys::errno();
        return Err(format!("{what}: {e}"));
    }
    Ok(())
}
