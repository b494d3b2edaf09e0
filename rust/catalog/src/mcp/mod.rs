//! MCP servers in the guest: names and TypeScript declarations.

mod dts;
mod names;

pub use dts::{
    MAX_FILE_BYTES, ServerDeclaration, ServerSummary, ToolDeclaration, mcp_index_dts,
    mcp_server_dts, mcp_signature,
};
pub use names::{Named, ServerNames, mcp_names};
