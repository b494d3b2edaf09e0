//! Markdown around the code.

use std::ops::Range;

/// What the markdown around a cell comes to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fence {
    /// There is none.
    None,
    /// One fence around everything: where the code is, and the language tag in lower case.
    Around { code: Range<usize>, tag: String },
    /// There is more than one block. The offset is that of the second opening.
    Several(usize),
}

/// A fence of at least three backticks or tildes; returns the character and how many there are.
fn marker(line: &str) -> Option<(u8, usize)> {
    let first = *line.as_bytes().first().filter(|&&b| b == b'`' || b == b'~')?;
    let count = line.bytes().take_while(|&b| b == first).count();
    (count >= 3).then_some((first, count))
}

/// The offset of the first line that opens with backticks as a fence does.
pub(crate) fn marked_line(text: &str) -> Option<usize> {
    let mut at = 0;
    text.split_inclusive('\n').find_map(|line| {
        let indent = line.len() - line.trim_start().len();
        let found = (marker(line.trim_start()).is_some()).then_some(at + indent);
        at += line.len();
        found
    })
}

/// Looks for one fence around all of `text`.
pub(crate) fn find(text: &str) -> Fence {
    let start = text.len() - text.trim_start().len();
    let trimmed = text.trim();
    let Some((mark, count)) = marker(trimmed) else { return Fence::None };
    let mark_text = &trimmed[..count];
    let end = start + trimmed.len();
    let Some(newline) = trimmed.find('\n') else { return one_line(trimmed, start, mark_text) };
    let info = trimmed[count..newline].trim();
    if info.contains('`') || (mark == b'~' && info.contains(char::is_whitespace)) {
        return Fence::None;
    }
    let content = start + newline + 1;
    let inner = &text[content..end];
    // The closing fence has a line of its own, or ends the last line of code.
    let bare = inner.trim_end_matches(mark as char);
    let closed = inner.len() - bare.len() >= count;
    if !closed && mark == b'~' {
        return Fence::None;
    }
    let code = if closed { bare } else { inner };
    if mark == b'`'
        && let Some(second) = marked_line(code)
    {
        return Fence::Several(content + second);
    }
    let tag = info.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or("");
    Fence::Around { code: content..content + code.len(), tag: tag.to_ascii_lowercase() }
}

/// A block written in one line: three backticks, perhaps a language, the code, three backticks.
fn one_line(trimmed: &str, start: usize, closer: &str) -> Fence {
    let inner = trimmed[closer.len()..].strip_suffix(closer).filter(|i| !i.trim().is_empty());
    let Some(inner) = inner.filter(|i| !i.contains('`') && closer.starts_with('`')) else {
        return Fence::None;
    };
    let word = inner.split(char::is_whitespace).next().unwrap_or("");
    let tag = if is_language(word) { word } else { "" };
    let from = start + closer.len() + tag.len();
    let to = start + closer.len() + inner.len();
    Fence::Around { code: from..to, tag: tag.to_ascii_lowercase() }
}

fn is_language(word: &str) -> bool {
    matches!(
        word.to_ascii_lowercase().as_str(),
        "js" | "javascript" | "ts" | "typescript" | "mjs" | "jsx" | "tsx"
    )
}

/// The first line of a text, if it is what is left of a fence that lost its backticks: a language
/// before a program that can do without that word.
pub(crate) fn bare_tag(text: &str) -> Option<Range<usize>> {
    let start = text.len() - text.trim_start().len();
    let (line, rest) = text[start..].split_once('\n')?;
    let rest = rest.trim_start();
    // What these stand at the end of belongs to them.
    let goes_on = rest.is_empty() || rest.starts_with(['.', '=', '?', ':', ',']);
    let word = line.trim_end();
    (is_language(word) && !goes_on).then(|| start..start + word.len())
}
