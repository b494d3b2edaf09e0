//! codemode engine
