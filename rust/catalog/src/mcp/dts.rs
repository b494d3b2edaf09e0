//! Declaration files of MCP servers. Names, descriptions and schemas are a stranger's; the text
//! is valid TypeScript whatever they hold, and no tool can take another's place.

use std::fmt::Write as _;

use crate::parse_schema;
use crate::schema::{Order, Style, Type, build, print, shortened};
use crate::text::{clip, comment_line, comment_lines, property_name, quote};

/// Bytes of one declaration file, unless told otherwise.
pub const MAX_FILE_BYTES: usize = 256 << 10;

/// Bytes that a type takes at least in the text, roughly: more types than fit need not be made.
const TYPE_BYTES: usize = 12;
/// Bytes that one tool may take, and that it may take however many others there are.
const TOOL_BYTES: std::ops::RangeInclusive<usize> = 2 << 10..=32 << 10;
const DESCRIPTION_CHARS: usize = 2000;
const PARAMETER_CHARS: usize = 300;
const PARAMETERS: usize = 64;
const OUTPUT_CHARS: usize = 2000;

/// A tool as it is declared.
#[derive(Clone, Debug, Default)]
pub struct ToolDeclaration {
    /// Its key, an identifier.
    pub key: String,
    /// Its name as the server spells it.
    pub name: String,
    /// The server's words.
    pub description: String,
    /// Schema of the input, JSON text.
    pub input: Option<String>,
    /// Schema of `structuredContent`, JSON text.
    pub output: Option<String>,
}

/// A server as it is declared.
#[derive(Clone, Debug, Default)]
pub struct ServerDeclaration {
    /// Its key, an identifier.
    pub key: String,
    /// Its name in the configuration.
    pub name: String,
    /// The server's words on how to use it.
    pub instructions: String,
    /// Its tools, in the order in which they are listed.
    pub tools: Vec<ToolDeclaration>,
    /// Whether it has resources.
    pub resources: bool,
    /// Whether it has prompts.
    pub prompts: bool,
}

/// A server as the index lists it.
#[derive(Clone, Debug, Default)]
pub struct ServerSummary {
    /// Its key, an identifier.
    pub key: String,
    /// Its name in the configuration.
    pub name: String,
    /// Keys of its tools.
    pub tools: Vec<String>,
    /// Why it cannot be used, if it cannot.
    pub unavailable: Option<String>,
}

const TYPES: &str = "\
type McpContent = { type: string; text?: string; [key: string]: unknown };

type McpToolResult<T = unknown> = {
  content: McpContent[];
  structuredContent?: T;
  isError?: boolean;
};

type McpApiHeader = {
  server: string;
  tools: Array<{
    name: string;
    key: string;
    description: string;
    signature: string;
    inputSchema?: unknown;
    outputSchema?: unknown;
  }>;
};
";

/// `mcp/index.d.ts`: which servers there are, where their declarations are, how to call a tool.
pub fn mcp_index_dts(servers: &[ServerSummary]) -> String {
    const TOOLS: usize = 40;
    let mut out = String::from(
        "// MCP servers of this run. API.read(\"mcp/<server>.d.ts\") declares the tools of one.\n\
         // Call a tool with one object: const r = await MCP.<server>.<tool>({ ... });\n",
    );
    out.push_str(HOW_TO_READ);
    for server in servers {
        let _ = write!(out, "\n/**\n * Server {}: ", comment_line(&quote(&server.name), 200));
        if let Some(reason) = &server.unavailable {
            let _ = writeln!(out, "unavailable ({}).\n */", comment_line(reason, 300));
            let _ = writeln!(out, "declare namespace MCP.{} {{}}", server.key);
            continue;
        }
        let tools = &server.tools;
        let mut listed = tools.iter().take(TOOLS).map(|t| clip(t, 100)).collect::<Vec<_>>();
        if tools.len() > TOOLS {
            listed.push(format!("and {} more", tools.len() - TOOLS));
        }
        let count =
            if tools.len() == 1 { "1 tool".into() } else { format!("{} tools", tools.len()) };
        let names =
            if listed.is_empty() { String::new() } else { format!(": {}", listed.join(", ")) };
        let _ = writeln!(out, "mcp/{}.d.ts, {count}{names}\n */", server.key);
        let _ = writeln!(out, "declare namespace MCP.{} {{}}", server.key);
    }
    out
}

const HOW_TO_READ: &str = "\
// A result is { content, structuredContent?, isError? }; isError is a value, not a throw.
// Text is in content: const text = r.content.filter((c) => c.type === \"text\").map((c) => c.text).join(\"\\n\");
// Data, where a tool gives it as JSON: const data = r.structuredContent ?? JSON.parse(text);
";

/// `mcp/<server>.d.ts`, at most about `max_bytes` long.
///
/// Where there is too much, types are shortened first, then `unknown`; a comment then points to
/// `$api(tool, { schema: true })`. Every tool keeps its function as long as the bare functions fit.
pub fn mcp_server_dts(server: &ServerDeclaration, max_bytes: usize) -> String {
    let mut out = format!(
        "// MCP server {}: MCP.{}.<tool>({{ ... }}), one object as argument.\n{HOW_TO_READ}",
        clip(&quote(&server.name), 200),
        server.key
    );
    for line in comment_lines(&server.instructions, DESCRIPTION_CHARS) {
        let _ = writeln!(out, "// {line}");
    }
    let _ = write!(out, "\n{TYPES}\ndeclare namespace MCP.{} {{\n", server.key);
    out.push_str(
        "  /** Declarations, and with { schema: true } the schemas, of one tool or of all. */\n  \
         function $api(toolName?: string, options?: { schema?: boolean }): Promise<McpApiHeader>;\n",
    );
    if server.resources {
        out.push_str(RESOURCES);
    }
    if server.prompts {
        out.push_str(PROMPTS);
    }
    tools(&server.tools, max_bytes.saturating_sub(out.len() + 120), &mut out);
    out.push_str("}\n");
    out
}

const RESOURCES: &str = "
  namespace resources {
    /** Lists the resources. */
    function list(): Promise<{ resources: Array<{ uri: string; name?: string; [key: string]: unknown }> }>;
    /** Reads one. */
    function read(input: { uri: string }): Promise<{ contents: Array<{ uri: string; text?: string; [key: string]: unknown }> }>;
  }
";

const PROMPTS: &str = "
  namespace prompts {
    /** Lists the prompts. */
    function list(): Promise<{ prompts: Array<{ name: string; [key: string]: unknown }> }>;
    /** Fills in one. */
    function get(input: { name: string; arguments?: Record<string, string> }): Promise<{ description?: string; messages: Array<{ role: string; content: unknown }> }>;
  }
";

fn tools(tools: &[ToolDeclaration], max: usize, out: &mut String) {
    let bare: Vec<String> = tools.iter().map(bare).collect();
    let mut reserved = 0;
    let fitting = bare
        .iter()
        .take_while(|text| {
            reserved += text.len();
            reserved <= max
        })
        .count();
    reserved = bare[..fitting].iter().map(String::len).sum();
    let mut left = max - reserved;
    let share = (4 * max / tools.len().max(1)).clamp(*TOOL_BYTES.start(), *TOOL_BYTES.end());
    for (tool, bare) in tools.iter().zip(&bare).take(fitting) {
        let room = share.min(left + bare.len());
        // Rendering is not worth its time where next to nothing would fit.
        let text = if left < 200 { None } else { declared(tool, room) };
        let text = text.as_ref().unwrap_or(bare);
        left -= text.len().saturating_sub(bare.len());
        out.push_str(text);
    }
    if fitting < tools.len() {
        let _ = writeln!(out, "\n  // {} more tools: $api() lists all", tools.len() - fitting);
    }
}

/// The shortest declaration of a tool.
fn bare(tool: &ToolDeclaration) -> String {
    format!(
        "\n  /** Too much to show: $api({}, {{ schema: true }}) gives the schema. */\n  \
         function {}(input: unknown): Promise<McpToolResult>;\n",
        comment_line(&quote(&tool.name), 200),
        tool.key
    )
}

/// The declaration of a tool in at most `room` bytes, if there is one.
fn declared(tool: &ToolDeclaration, room: usize) -> Option<String> {
    let signature = Signature::of(tool, true, room * 3 / 4);
    let fits = |text: &String| text.len() <= room;
    let render = |notes: Notes| {
        let mut text = String::from("\n");
        comment(tool, &signature, notes, &mut text);
        let _ = writeln!(text, "  function {}{};", tool.key, signature.text);
        text
    };
    [Notes::ALL, Notes { description: 300, parameters: 0 }].into_iter().map(render).find(fits)
}

/// How much of a tool's descriptions is shown.
#[derive(Clone, Copy)]
struct Notes {
    description: usize,
    parameters: usize,
}

impl Notes {
    const ALL: Self = Self { description: DESCRIPTION_CHARS, parameters: PARAMETERS };
}

fn comment(tool: &ToolDeclaration, signature: &Signature, notes: Notes, out: &mut String) {
    let mut lines = comment_lines(&tool.description, notes.description);
    for (name, description) in signature.parameters.iter().take(notes.parameters) {
        lines.push(format!("@param {name} {description}"));
    }
    if signature.cut {
        let name = comment_line(&quote(&tool.name), 200);
        lines.push(format!("Shortened: $api({name}, {{ schema: true }}) gives the whole schema."));
    }
    match lines.as_slice() {
        [] => {}
        [one] => {
            let _ = writeln!(out, "  /** {one} */");
        }
        lines => {
            out.push_str("  /**\n");
            for line in lines {
                let _ = writeln!(out, "   * {line}");
            }
            out.push_str("   */\n");
        }
    }
}

/// One line for `$api`: `createIssue(input: { … }): Promise<McpToolResult>`.
pub fn mcp_signature(tool: &ToolDeclaration) -> String {
    format!("{}{}", tool.key, Signature::of(tool, false, 2000).text)
}

struct Signature {
    /// `(input: { … }): Promise<McpToolResult>`.
    text: String,
    /// Names and descriptions of parameters that have one, fit for a comment.
    parameters: Vec<(String, String)>,
    /// Whether the input type leaves something out.
    cut: bool,
}

impl Signature {
    fn of(tool: &ToolDeclaration, lines: bool, max: usize) -> Self {
        let schema = tool.input.as_deref().map(parse_schema).unwrap_or_default();
        let built = build(&schema, max / TYPE_BYTES + 64, Order::Source);
        let (mut cut, mut parameters, mut optional) = (built.cut, Vec::new(), true);
        if let Type::Object(object) = &built.kind {
            optional = !object.properties.iter().any(|p| p.required);
            parameters = object
                .properties
                .iter()
                .filter_map(|p| {
                    let text = comment_line(p.description?, PARAMETER_CHARS);
                    let name = comment_line(&property_name(p.name), 100);
                    (!text.is_empty()).then_some((name, text))
                })
                .take(PARAMETERS)
                .collect();
        }
        let input = if is_shaped(&built.kind) {
            optional &= matches!(built.kind, Type::Object(_));
            let indent = lines.then_some("  ");
            let style = Style { max, levels: 24, literals: usize::MAX, indent };
            print(&built.kind, style).or_else(|| {
                cut = true;
                shortened(&built.kind, max)
            })
        } else {
            Some("Record<string, unknown>".to_owned())
        };
        let input = input.filter(|text| text.len() <= max.max(64)).unwrap_or_else(|| {
            cut = true;
            "unknown".to_owned()
        });
        let result = tool.output.as_deref().and_then(result_type).unwrap_or_default();
        let mark = if optional { "?" } else { "" };
        Self {
            text: format!("(input{mark}: {input}): Promise<McpToolResult{result}>"),
            parameters,
            cut,
        }
    }
}

/// Whether the type says anything of an object.
fn is_shaped(kind: &Type<'_>) -> bool {
    match kind {
        Type::Object(_) => true,
        Type::Union(members) | Type::Intersection(members) => members.iter().any(is_shaped),
        _ => false,
    }
}

fn result_type(schema: &str) -> Option<String> {
    let schema = parse_schema(schema);
    let built = build(&schema, OUTPUT_CHARS / TYPE_BYTES, Order::Source);
    if !is_shaped(&built.kind) {
        return None;
    }
    shortened(&built.kind, OUTPUT_CHARS).map(|text| format!("<{text}>"))
}
