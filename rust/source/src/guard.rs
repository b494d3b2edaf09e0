//! Nesting, measured before any parser sees the text.
//!
//! The parser, the walks over its tree and the printer recurse once per level; a level is a
//! bracket, but also an operator of a chain (`a+a+a`, `!!!a`, `x=>x=>x`, `a.b.c`). The scan is
//! linear and knows strings, comments, templates and, by the token before, regexes. It adds up, over
//! the open brackets, the tokens of the statement or list item that is being read at each: no
//! tree is deeper than that.

/// Most brackets that may be open at once.
const MAX_BRACKETS: usize = 400;
/// Most tokens that may be open at once: those since the last `;`, `,` or new statement, at every
/// open bracket.
const MAX_OPEN_TOKENS: usize = 6_000;
/// Most `<` that may be open in one statement. Each may open type arguments, which a parser of
/// TypeScript finds out by trying; in a chain, the tries multiply.
const MAX_ANGLES: usize = 300;
/// A text this short cannot be nested too deeply.
const ALWAYS_FINE: usize = 400;

/// What the last token means for a `/` and for a line end that follow it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// An operand ended: `/` divides, and a word on the next line starts a new statement.
    Operand,
    /// The `)` of `if (…)` and its like: an operand may follow.
    Head,
    /// An operator, or the start: a regex may follow.
    Operator,
    /// `}`: after a block a new statement, after an object a division; no word goes on with it but
    /// the likes of `else`.
    Brace,
}

struct Level {
    open: u8,
    /// For `(`: whether it belongs to `if`, `for`, `while` or `with`.
    head: bool,
    tokens: usize,
    /// `<` without its `>` in this statement; a `,` does not end them.
    angles: usize,
}

impl Level {
    fn new(open: u8, head: bool) -> Self {
        Self { open, head, tokens: 0, angles: 0 }
    }
}

/// The offset at which a text is nested deeper than any parser should be asked to follow.
pub(crate) fn too_deep(text: &str) -> Option<usize> {
    if text.len() <= ALWAYS_FINE {
        return None;
    }
    Scan {
        bytes: text.as_bytes(),
        at: 0,
        levels: vec![Level::new(b'{', false)],
        open_tokens: 0,
        last: Last::Operator,
        control: false,
        line_end: false,
    }
    .run()
}

struct Scan<'t> {
    bytes: &'t [u8],
    at: usize,
    levels: Vec<Level>,
    open_tokens: usize,
    last: Last,
    /// The last word was `if`, `for`, `while` or `with`.
    control: bool,
    line_end: bool,
}

impl Scan<'_> {
    fn run(mut self) -> Option<usize> {
        while let Some(&byte) = self.bytes.get(self.at) {
            let start = self.at;
            self.at += 1;
            match byte {
                b'\n' | b'\r' => self.line_end = true,
                b' ' | b'\t' => {}
                b'/' if self.bytes.get(self.at) == Some(&b'/') => self.skip_line(),
                b'/' if self.bytes.get(self.at) == Some(&b'*') => self.skip_comment(),
                b'/' if self.regex_may_follow() => {
                    self.skip_regex();
                    self.operand();
                }
                b'"' | b'\'' => {
                    self.skip_string(byte);
                    self.operand();
                }
                b'`' => {
                    self.token(Last::Operand);
                    self.template();
                }
                b'(' | b'[' | b'{' => self.open(byte),
                b')' | b']' | b'}' => self.close(byte),
                b';' => self.statement(),
                b',' => self.separator(),
                b'<' | b'>' => {
                    if let Some(level) = self.levels.last_mut() {
                        let step = if byte == b'<' {
                            level.angles + 1
                        } else {
                            level.angles.saturating_sub(1)
                        };
                        level.angles = step;
                    }
                    self.token(Last::Operator);
                }
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'$' | b'#' | b'\\' | 0x80.. => {
                    self.word(start);
                }
                _ => self.token(Last::Operator),
            }
            let angles = self.levels.last().map_or(0, |l| l.angles);
            if self.levels.len() > MAX_BRACKETS
                || self.open_tokens > MAX_OPEN_TOKENS
                || angles > MAX_ANGLES
            {
                return Some(start);
            }
        }
        None
    }

    fn regex_may_follow(&self) -> bool {
        match self.last {
            Last::Operand => false,
            Last::Head | Last::Operator => true,
            Last::Brace => self.line_end,
        }
    }

    fn token(&mut self, last: Last) {
        if let Some(level) = self.levels.last_mut() {
            level.tokens += 1;
            self.open_tokens += 1;
        }
        self.last = last;
        self.control = false;
        self.line_end = false;
    }

    /// Something that can start a statement where an operand has ended.
    fn operand(&mut self) {
        if self.last == Last::Brace || (self.line_end && self.last == Last::Operand) {
            self.statement();
        }
        self.token(Last::Operand);
    }

    fn statement(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            level.angles = 0;
        }
        self.separator();
    }

    fn separator(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            self.open_tokens -= level.tokens;
            level.tokens = 0;
        }
        self.last = Last::Operator;
        self.control = false;
        self.line_end = false;
    }

    fn open(&mut self, byte: u8) {
        let head = self.control && byte == b'(';
        self.token(Last::Operator);
        self.levels.push(Level::new(byte, head));
    }

    fn close(&mut self, byte: u8) {
        let opens = match byte {
            b')' => b'(',
            b']' => b'[',
            _ => b'{',
        };
        let mut head = false;
        // A bracket that closes nothing is left to the parser, which stops there.
        if self.levels.len() > 1 {
            let matching = self.levels.last().is_some_and(|l| l.open == opens || l.open == b'`');
            if let Some(level) = self.levels.pop_if(|_| matching) {
                self.open_tokens -= level.tokens;
                head = level.head;
                if level.open == b'`' {
                    self.template();
                    return;
                }
            }
        }
        self.last = match byte {
            b'}' => Last::Brace,
            _ if head => Last::Head,
            _ => Last::Operand,
        };
        self.control = false;
        self.line_end = false;
    }

    fn word(&mut self, start: usize) {
        while self.bytes.get(self.at).is_some_and(|b| {
            b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'\\') || *b >= 0x80
        }) {
            self.at += 1;
        }
        let word = &self.bytes[start..self.at];
        let continues = matches!(
            word,
            b"else" | b"catch" | b"finally" | b"in" | b"of" | b"instanceof" | b"as" | b"satisfies"
        );
        if continues || (word == b"while" && self.last == Last::Brace) {
            self.token(Last::Operator);
        } else {
            self.operand();
        }
        if matches!(
            word,
            b"return"
                | b"typeof"
                | b"case"
                | b"do"
                | b"else"
                | b"in"
                | b"of"
                | b"instanceof"
                | b"new"
                | b"delete"
                | b"void"
                | b"throw"
                | b"await"
                | b"yield"
        ) {
            self.last = Last::Operator;
        }
        self.control = matches!(word, b"if" | b"for" | b"while" | b"with");
    }

    fn skip_line(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(|b| matches!(b, b'\n' | b'\r')).unwrap_or(rest.len());
    }

    fn skip_comment(&mut self) {
        let rest = &self.bytes[self.at + 1..];
        let length = rest.windows(2).position(|w| w == b"*/").map_or(rest.len(), |i| i + 2);
        self.at += 1 + length;
    }

    fn skip_string(&mut self, quote: u8) {
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'\n' => return,
                _ if byte == quote => return,
                _ => {}
            }
        }
    }

    fn skip_regex(&mut self) {
        let mut class = false;
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'[' => class = true,
                b']' => class = false,
                b'/' if !class => return,
                b'\n' => return,
                _ => {}
            }
        }
    }

    /// Text of a template up to its end, or up to an interpolation, which is a level of its own.
    fn template(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'`' => {
                    self.last = Last::Operand;
                    self.line_end = false;
                    return;
                }
                b'$' if self.bytes.get(self.at) == Some(&b'{') => {
                    self.at += 1;
                    self.levels.push(Level::new(b'`', false));
                    self.last = Last::Operator;
                    self.line_end = false;
                    return;
                }
                _ => {}
            }
        }
    }
}
