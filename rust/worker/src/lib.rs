//! codemode worker
