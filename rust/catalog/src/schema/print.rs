//! [`Type`] to TypeScript text, under a limit.

use super::types::{Object, Property, Type};
use crate::text;

/// How a type is written.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    /// Characters at most; beyond it nothing is written and the result is `None`.
    pub(crate) max: usize,
    /// Object levels that are written out; below stands `object`.
    pub(crate) levels: usize,
    /// Literals of one union that are written out; a longer one is its general type.
    pub(crate) literals: usize,
    /// Indentation of the properties of the outermost object, one to a line; `None`: one line.
    pub(crate) indent: Option<&'static str>,
}

/// Writes `kind`, or nothing if it does not fit.
pub(crate) fn print(kind: &Type<'_>, style: Style) -> Option<String> {
    let mut printer = Printer { out: String::new(), left: style.max, style };
    printer.kind(kind, style.levels)?;
    Some(printer.out)
}

/// Writes an object with as many of its first properties as fit; a comment counts the others.
pub(crate) fn print_some(object: &Object<'_>, style: Style) -> Option<String> {
    let mut out = String::from("{ ");
    let note = |n: usize| if n == 0 { String::new() } else { format!("/* +{n} more */ ") };
    let total = object.properties.len();
    let room = style.max.checked_sub(2 + note(total).len() + 1)?;
    let mut used = 0;
    let mut shown = 0;
    for property in &object.properties {
        let mut printer = Printer { out: String::new(), left: room - used, style };
        if printer.property(property, style.levels.saturating_sub(1)).is_none()
            || printer.push("; ").is_none()
        {
            break;
        }
        used = room - printer.left;
        shown += 1;
        out.push_str(&printer.out);
    }
    out.push_str(&note(total - shown));
    out.push('}');
    (shown > 0).then_some(out)
}

struct Printer {
    out: String,
    left: usize,
    style: Style,
}

impl Printer {
    fn push(&mut self, text: &str) -> Option<()> {
        let n = if text.is_ascii() { text.len() } else { text.chars().count() };
        self.left = self.left.checked_sub(n)?;
        self.out.push_str(text);
        Some(())
    }

    fn kind(&mut self, kind: &Type<'_>, levels: usize) -> Option<()> {
        match kind {
            Type::Unknown => self.push("unknown"),
            Type::Word(word) => self.push(word),
            Type::Literal(value) => match value.as_str() {
                Some(s) => self.push(&text::quote(s)),
                None => self.push(&value.to_string()),
            },
            Type::Array(item) => match &**item {
                Type::Unknown | Type::Word(_) => {
                    self.kind(item, levels)?;
                    self.push("[]")
                }
                item => {
                    self.push("Array<")?;
                    self.kind(item, levels)?;
                    self.push(">")
                }
            },
            Type::Tuple { items, required, rest } => {
                self.push("[")?;
                for (i, item) in items.iter().enumerate() {
                    self.separator(i, ", ")?;
                    // Parentheses: `?` binds to the last member of a union.
                    let wrap =
                        i >= *required && matches!(item, Type::Union(_) | Type::Intersection(_));
                    self.push(if wrap { "(" } else { "" })?;
                    self.kind(item, levels)?;
                    self.push(if wrap { ")" } else { "" })?;
                    self.push(if i >= *required { "?" } else { "" })?;
                }
                if let Some(rest) = rest {
                    self.separator(items.len(), ", ")?;
                    self.push("...Array<")?;
                    self.kind(rest, levels)?;
                    self.push(">")?;
                }
                self.push("]")
            }
            Type::Object(object) => self.object(object, levels),
            Type::Union(members) => self.union(members, levels),
            Type::Intersection(members) => {
                for (i, member) in members.iter().enumerate() {
                    self.separator(i, " & ")?;
                    let wrap = matches!(member, Type::Union(_));
                    self.push(if wrap { "(" } else { "" })?;
                    self.kind(member, levels)?;
                    self.push(if wrap { ")" } else { "" })?;
                }
                Some(())
            }
        }
    }

    fn separator(&mut self, i: usize, text: &str) -> Option<()> {
        if i > 0 { self.push(text) } else { Some(()) }
    }

    fn union(&mut self, members: &[Type<'_>], levels: usize) -> Option<()> {
        let literals = members.iter().filter(|m| matches!(m, Type::Literal(_))).count();
        if literals <= self.style.literals {
            for (i, member) in members.iter().enumerate() {
                self.separator(i, " | ")?;
                self.kind(member, levels)?;
            }
            return Some(());
        }
        let mut general: Vec<Type<'_>> = Vec::new();
        for member in members {
            let member = match member {
                Type::Literal(serde_json::Value::String(_)) => Type::Word("string"),
                Type::Literal(serde_json::Value::Number(_)) => Type::Word("number"),
                Type::Literal(_) => Type::Word("boolean"),
                other => other.clone(),
            };
            if !general.contains(&member) {
                general.push(member);
            }
        }
        for (i, member) in general.iter().enumerate() {
            self.separator(i, " | ")?;
            self.kind(member, levels)?;
        }
        Some(())
    }

    fn object(&mut self, object: &Object<'_>, levels: usize) -> Option<()> {
        let outermost = levels == self.style.levels;
        match (&object.rest, object.properties.is_empty()) {
            (None, true) if object.bare => return self.push("Record<string, unknown>"),
            (None, true) => return self.push("{}"),
            (Some(rest), true) => {
                self.push("Record<string, ")?;
                self.kind(rest, levels.saturating_sub(1))?;
                return self.push(">");
            }
            _ if levels == 0 => return self.push("object"),
            _ => {}
        }
        let indent = self.style.indent.filter(|_| outermost);
        let line = indent.map(|indent| format!("\n{indent}"));
        let before = line.as_deref().unwrap_or(" ");
        self.push("{")?;
        for property in &object.properties {
            self.push(before)?;
            self.push(if indent.is_some() { "  " } else { "" })?;
            self.property(property, levels - 1)?;
            self.push(";")?;
        }
        if let Some(rest) = &object.rest {
            self.push(before)?;
            self.push(if indent.is_some() { "  " } else { "" })?;
            self.push("[key: string]: ")?;
            self.kind(rest, levels - 1)?;
            self.push(";")?;
        }
        if indent.is_none() {
            // One line reads `{ a: string }`: no semicolon after the last property.
            self.out.pop();
            self.left += 1;
        }
        self.push(before)?;
        self.push("}")
    }

    fn property(&mut self, property: &Property<'_>, levels: usize) -> Option<()> {
        self.push(&text::property_name(property.name))?;
        self.push(if property.required { ": " } else { "?: " })?;
        self.kind(&property.kind, levels)
    }
}
