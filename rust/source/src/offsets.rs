//! Text edits that remember where every byte came from.
//!
//! Offsets are bytes. All edits of a cell are expressed here, so that one table leads from the text
//! that runs back to the text that was sent.

use std::borrow::Cow;

/// From `dst` on, text was copied from `src` on, up to the next anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Anchor {
    pub dst: u32,
    pub src: u32,
}

/// Offsets of a text -> offsets of the text that it was made from. No anchors: the same text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Offsets(Vec<Anchor>);

impl Offsets {
    /// Anchors need not be sorted; of several with the same `dst` the last one counts.
    pub(crate) fn new(mut anchors: Vec<Anchor>) -> Self {
        anchors.sort_by_key(|a| a.dst);
        // What comes before the first anchor is a copy as well.
        let mut kept: Vec<Anchor> = Vec::with_capacity(anchors.len() + 1);
        kept.push(Anchor { dst: 0, src: 0 });
        for anchor in anchors {
            match kept.last_mut() {
                Some(last) if last.dst == anchor.dst => *last = anchor,
                _ => kept.push(anchor),
            }
        }
        Self(kept)
    }

    pub(crate) fn is_identity(&self) -> bool {
        self.0.iter().all(|a| a.dst == a.src)
    }

    pub(crate) fn anchors(&self) -> &[Anchor] {
        &self.0
    }

    /// The offset in the older text. Text that was inserted belongs to the place where it went in.
    pub(crate) fn to_source(&self, offset: u32) -> u32 {
        let next = self.0.partition_point(|a| a.dst <= offset);
        let Some(anchor) = next.checked_sub(1).map(|i| self.0[i]) else { return offset };
        let there = anchor.src.saturating_add(offset - anchor.dst);
        match self.0.get(next) {
            Some(following) if following.src >= anchor.src => there.min(following.src),
            _ => there,
        }
    }

    /// `self` leads from the newest text to a middle one, `older` from there to the first.
    pub(crate) fn then(&self, older: &Self) -> Self {
        if older.0.is_empty() {
            return self.clone();
        }
        if self.0.is_empty() {
            return older.clone();
        }
        let mut anchors = Vec::with_capacity(self.0.len() + older.0.len());
        for (i, anchor) in self.0.iter().enumerate() {
            anchors.push(Anchor { dst: anchor.dst, src: older.to_source(anchor.src) });
            // The anchors of `older` inside of the stretch that this one copies.
            let end = self.0.get(i + 1).map_or(u32::MAX, |n| anchor.src + (n.dst - anchor.dst));
            let from = older.0.partition_point(|a| a.dst <= anchor.src);
            for inner in older.0[from..].iter().take_while(|a| a.dst < end) {
                anchors.push(Anchor { dst: anchor.dst + (inner.dst - anchor.src), src: inner.src });
            }
        }
        Self::new(anchors)
    }
}

/// Replace `start..end` by `text`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    pub start: u32,
    pub end: u32,
    pub text: Cow<'static, str>,
}

impl Edit {
    pub(crate) fn insert(at: u32, text: impl Into<Cow<'static, str>>) -> Self {
        Self { start: at, end: at, text: text.into() }
    }

    pub(crate) fn replace(start: u32, end: u32, text: impl Into<Cow<'static, str>>) -> Self {
        Self { start, end, text: text.into() }
    }
}

/// A text on its way to becoming a script.
#[derive(Debug, Clone)]
pub(crate) struct Draft<'t> {
    pub text: Cow<'t, str>,
    /// Leads to the text that was sent.
    pub offsets: Offsets,
}

impl<'t> Draft<'t> {
    /// `text` is the part of what was sent that starts at `at`.
    pub(crate) fn part(text: Cow<'t, str>, at: usize) -> Self {
        let anchors = if at == 0 { Vec::new() } else { vec![Anchor { dst: 0, src: at as u32 }] };
        Self { text, offsets: Offsets(anchors) }
    }

    /// Applies edits that are in order and do not overlap.
    pub(crate) fn edited(&self, edits: &[Edit]) -> Draft<'static> {
        let mut text = String::with_capacity(self.text.len() + 32 * edits.len());
        let mut anchors = Vec::with_capacity(2 * edits.len() + 1);
        let mut copied = 0_usize;
        for edit in edits {
            text.push_str(&self.text[copied..edit.start as usize]);
            anchors.push(Anchor { dst: text.len() as u32, src: edit.start });
            text.push_str(&edit.text);
            copied = edit.end as usize;
            anchors.push(Anchor { dst: text.len() as u32, src: edit.end });
        }
        text.push_str(&self.text[copied..]);
        Draft { text: Cow::Owned(text), offsets: Offsets::new(anchors).then(&self.offsets) }
    }
}
