//! codemode binding
