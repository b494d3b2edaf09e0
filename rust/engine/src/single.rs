//! State of a process that has one thread.

/// A static that only the one thread of the process reaches.
pub(crate) struct SingleThread<T>(T);

// SAFETY: the worker process has one thread; tests of this crate run in one thread each process.
#[allow(unsafe_code)]
unsafe impl<T> Sync for SingleThread<T> {}

impl<T> SingleThread<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(value)
    }

    pub(crate) fn get(&self) -> &T {
        &self.0
    }
}
