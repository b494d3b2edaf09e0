//! What a sealed child can still ask of the kernel: one fork per question, sealed as a leg is.
//!
//! Shares the source of the worker's confinement, and needs nothing else of it.
#![allow(unsafe_code, dead_code)]

#[path = "../src/confine.rs"]
mod confine;
#[path = "../src/sys.rs"]
mod sys;

use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;

use confine::SOCKET;
use libc::c_long;
use seccompiler::BpfProgram;

/// The calls that SECURITY.md lists.
const ALLOWED: [c_long; 8] = [
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_clock_gettime,
    libc::SYS_rt_sigreturn,
    libc::SYS_getrandom,
    libc::SYS_timer_settime,
];
/// Above the highest number of any kernel there is.
const NUMBERS: c_long = 1024;
const X32: c_long = 0x4000_0000;
/// `uretprobe` and `uprobe`: the kernel's own trampolines enter here, so since 6.14 it lets them
/// by every filter. They give a process that nobody probes a signal or an error.
#[cfg(target_arch = "x86_64")]
const UNFILTERED: [c_long; 2] = [335, 336];
#[cfg(not(target_arch = "x86_64"))]
const UNFILTERED: [c_long; 0] = [];
/// What a child exits with that lived through its question.
const LIVED: i32 = 42;
/// What it exits with if the kernel answered with an error.
const REFUSED: i32 = 43;

/// How a child ended.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Exit(i32),
    Signal(i32),
}

const KILLED: End = End::Signal(libc::SIGSYS);

struct Bench {
    filter: BpfProgram,
    parent: i32,
    failures: Vec<String>,
    asked: usize,
}

impl Bench {
    /// How a child ends that is sealed and then asks.
    fn sealed(&mut self, ask: impl FnOnce()) -> End {
        let (parent, filter) = (self.parent, self.filter.clone());
        self.asked += 1;
        forked(|| {
            confine::seal(parent, &filter).expect("the seal");
            ask();
        })
    }

    fn expect(&mut self, what: &str, wanted: &End, ask: impl FnOnce()) {
        let end = self.sealed(ask);
        if end != *wanted {
            self.failures.push(format!("{what}: {end:?}, not {wanted:?}"));
        }
    }
}

fn forked(run: impl FnOnce()) -> End {
    // SAFETY: this process has one thread.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "fork: {}", sys::errno());
    if pid == 0 {
        run();
        sys::exit(LIVED);
    }
    let mut status = 0;
    // SAFETY: the pointer is to a local.
    assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
    if libc::WIFSIGNALED(status) {
        End::Signal(libc::WTERMSIG(status))
    } else {
        End::Exit(libc::WEXITSTATUS(status))
    }
}

/// Six arguments, each the same.
fn call(number: c_long, argument: c_long) -> c_long {
    let a = argument;
    // SAFETY: no argument is the address of anything that is there.
    unsafe { libc::syscall(number, a, a, a, a, a, a) }
}

fn three(number: c_long, a: c_long, b: *mut u8, c: c_long) -> c_long {
    // SAFETY: the callers give a buffer with at least one byte.
    unsafe { libc::syscall(number, a, b, c, 0) }
}

fn main() {
    let (ours, theirs) = UnixStream::pair().expect("sockets");
    // SAFETY: descriptors of this process only; the children find the socket where a leg has it.
    unsafe {
        let far = libc::fcntl(ours.as_raw_fd(), libc::F_DUPFD, 10);
        assert!(far > SOCKET && libc::dup2(far, SOCKET) == SOCKET, "{}", sys::errno());
    }
    std::mem::forget((ours, theirs));
    // SAFETY: the runtime's own handler makes calls, and would be killed for those.
    unsafe { libc::signal(libc::SIGSEGV, libc::SIG_DFL) };
    let vsyscall = has_vsyscall();
    let layers = confine::confine_zygote().expect("the outer layers");
    let mut bench = Bench {
        filter: confine::filter().expect("the filter"),
        parent: std::process::id() as i32,
        failures: Vec::new(),
        asked: 0,
    };
    // The look itself: without the seal nobody dies.
    assert_eq!(
        forked(|| {
            call(libc::SYS_getpid, 0);
        }),
        End::Exit(LIVED)
    );
    assert_eq!(bench.sealed(|| {}), End::Exit(LIVED));

    every_other_call_kills(&mut bench);
    the_arguments_of_the_rest_are_checked(&mut bench);
    what_is_left_works(&mut bench);
    #[cfg(target_arch = "x86_64")]
    other_ways_in_kill(&mut bench, vsyscall);

    println!(
        "{} sealed children; namespaces {:?}, landlock {:?}",
        bench.asked, layers.namespaces, layers.landlock
    );
    assert!(bench.failures.is_empty(), "{:#?}", bench.failures);
}

fn every_other_call_kills(bench: &mut Bench) {
    for number in UNFILTERED {
        let end = bench.sealed(|| {
            if call(number, 0) < 0 {
                sys::exit(REFUSED);
            }
        });
        if ![KILLED, End::Signal(libc::SIGILL), End::Exit(REFUSED)].contains(&end) {
            bench.failures.push(format!("call {number}: {end:?}"));
        }
    }
    for number in (0..NUMBERS).filter(|n| !ALLOWED.contains(n) && !UNFILTERED.contains(n)) {
        for argument in [0, c_long::from(SOCKET)] {
            bench.expect(&format!("call {number}"), &KILLED, || {
                call(number, argument);
            });
        }
    }
    for number in [-1, c_long::from(i32::MAX), c_long::from(i32::MIN), 1 << 32 | libc::SYS_getpid] {
        bench.expect(&format!("call {number:#x}"), &KILLED, || {
            call(number, 0);
        });
    }
}

fn the_arguments_of_the_rest_are_checked(bench: &mut Bench) {
    let mut byte = [0u8];
    let at = byte.as_mut_ptr();
    for number in [libc::SYS_read, libc::SYS_write] {
        for fd in [0, 1, 2, 4, 10, -1, -100, 1 << 32 | 3, c_long::MAX] {
            bench.expect(&format!("call {number} on {fd}"), &KILLED, || {
                three(number, fd, at, 1);
            });
        }
    }
    for flags in [1, 2, 3, 4, 8, -1, 1 << 32] {
        bench.expect(&format!("getrandom with flags {flags}"), &KILLED, || {
            three(libc::SYS_getrandom, at as c_long, std::ptr::without_provenance_mut(1), flags);
        });
    }
}

fn what_is_left_works(bench: &mut Bench) {
    let lived = End::Exit(LIVED);
    bench.expect("socket", &lived, || {
        sys::write_all(SOCKET, b"x").expect("a write to the socket");
    });
    bench.expect("clock", &lived, || {
        let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the pointer is to a local.
        assert_eq!(
            unsafe { libc::syscall(libc::SYS_clock_gettime, libc::CLOCK_MONOTONIC, &raw mut t) },
            0
        );
    });
    bench.expect("getrandom", &lived, || {
        let mut bytes = [0u8; 16];
        let at = bytes.as_mut_ptr() as c_long;
        assert_eq!(three(libc::SYS_getrandom, at, std::ptr::without_provenance_mut(16), 0), 16);
        assert_ne!(bytes, [0; 16]);
    });
    bench.expect("exit", &End::Exit(0), || {
        call(libc::SYS_exit, 0);
    });
    bench.expect("exit_group", &End::Exit(3), || {
        call(libc::SYS_exit_group, 3);
    });
    // There is no signal to come back from: the frame is refused, not the call.
    #[cfg(target_arch = "x86_64")]
    bench.expect("rt_sigreturn", &End::Signal(libc::SIGSEGV), || {
        let nothing = [0_u64; 512];
        // SAFETY: does not come back: the state that the kernel finds there has no address to go on.
        unsafe {
            std::arch::asm!(
                "mov rsp, {}", "syscall", "ud2",
                in(reg) &raw const nothing[256], in("rax") libc::SYS_rt_sigreturn,
                options(noreturn)
            );
        }
    });
    bench.expect("kill timer", &End::Signal(libc::SIGKILL), || {
        confine::arm_kill_timer(1);
        loop {
            std::hint::spin_loop();
        }
    });
    // A child whose zygote is gone ends before it is sealed.
    let orphan = forked(|| confine::seal(1, &bench.filter).expect("the seal"));
    assert_eq!(orphan, End::Exit(0));
}

/// Numbers of x32, the entry of i386, and the calls at a fixed address.
#[cfg(target_arch = "x86_64")]
fn other_ways_in_kill(bench: &mut Bench, vsyscall: bool) {
    for number in 0..NUMBERS {
        bench.expect(&format!("x32 call {number}"), &KILLED, || {
            call(X32 | number, c_long::from(SOCKET));
        });
    }
    // Without the seal: 20 is getpid there.
    let kernel_has_it = forked(|| {
        if int80(20) <= 0 {
            sys::exit(1);
        }
    });
    let end = if kernel_has_it == End::Exit(LIVED) {
        KILLED
    } else {
        println!("this kernel has no i386 entry: {kernel_has_it:?}");
        End::Signal(libc::SIGSEGV)
    };
    for number in 0..512 {
        bench.expect(&format!("i386 call {number}"), &end, || {
            int80(number);
        });
    }
    if vsyscall {
        bench.expect("vsyscall", &KILLED, || {
            // SAFETY: the kernel has its `time` there.
            let time: extern "C" fn(usize) -> i64 =
                unsafe { std::mem::transmute(0xffff_ffff_ff60_0400_usize) };
            time(0);
        });
    } else {
        println!("this kernel has no calls at a fixed address");
    }
}

#[cfg(target_arch = "x86_64")]
fn int80(number: i32) -> i32 {
    let mut result = number;
    // SAFETY: a call with zeros; rbx is kept by hand because the compiler may not name it.
    unsafe {
        std::arch::asm!(
            "push rbx", "xor ebx, ebx", "int 0x80", "pop rbx",
            inout("eax") result, in("ecx") 0, in("edx") 0, in("esi") 0, in("edi") 0,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _,
        );
    }
    result
}

fn has_vsyscall() -> bool {
    std::fs::read_to_string("/proc/self/maps").is_ok_and(|maps| maps.contains("[vsyscall]"))
}
