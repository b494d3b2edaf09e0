//! The sandbox process of codemode.
//!
//! Started with an empty environment and a control socket on descriptor 3, it builds the
//! template VM once (the *zygote*) and then forks one confined child per request. A child
//! serves one leg of one cell on the socket that came with the request, and ends.

#[cfg_attr(codemode_sanitize, path = "unconfined.rs")]
mod confine;
mod leg;
#[cfg(not(codemode_sanitize))]
mod scratch;
mod sys;
mod zygote;

#[cfg(not(codemode_sanitize))]
#[global_allocator]
static ALLOCATOR: scratch::Scratch = scratch::Scratch;

fn main() {
    if let Err(message) = zygote::run() {
        zygote::last_words(&message);
        eprintln!("codemode-worker: {message}");
        std::process::exit(70);
    }
}
