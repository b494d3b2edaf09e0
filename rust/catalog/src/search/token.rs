//! Text to terms: identifiers in their parts, words in every script, one form for each.

use unicode_normalization::UnicodeNormalization as _;

use super::stem::stem;

/// Characters of one term; the rest of a longer word is cut.
const MAX_TERM: usize = 48;

/// Calls `emit` with each term of `text`, and whether it is a whole word whose parts were
/// emitted too (`getuser` beside `get` and `user`).
pub(super) fn terms(text: &str, mut emit: impl FnMut(&str, bool)) {
    let mut term = String::new();
    let mut word = Vec::new();
    let mut flush = |word: &mut Vec<char>| {
        if !word.is_empty() {
            split_word(word, &mut term, &mut emit);
            word.clear();
        }
    };
    let mut take = |c: char| {
        if c.is_alphanumeric() || is_mark(c) {
            word.push(c);
        } else {
            flush(&mut word);
        }
    };
    if text.is_ascii() {
        text.chars().for_each(&mut take);
    } else {
        // Compatibility forms (full-width letters, ligatures) and accents go; composing again
        // keeps Hangul syllables whole.
        text.nfkd().filter(|c| !is_accent(*c)).nfc().for_each(&mut take);
    }
    take(' ');
}

/// Latin, Greek and Cyrillic accents, Arabic vowel points.
fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{64b}'..='\u{652}' | '\u{670}' | '\u{5b0}'..='\u{5c7}')
}

/// Vowel signs and joiners inside words of Indic and other scripts.
fn is_mark(c: char) -> bool {
    !c.is_ascii() && (unicode_normalization::char::is_combining_mark(c) || c == '\u{200c}')
}

/// Scripts that write words without spaces, or glue particles to them.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}'       // Thai, Lao
        | '\u{1000}'..='\u{109f}'   // Myanmar
        | '\u{1780}'..='\u{17ff}'   // Khmer
        | '\u{3040}'..='\u{30ff}'   // kana
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{ac00}'..='\u{d7a3}'   // Hangul
        | '\u{20000}'..='\u{3134f}')
}

#[derive(PartialEq, Clone, Copy)]
enum Class {
    Lower,
    Upper,
    Digit,
    Unspaced,
}

fn class(c: char) -> Class {
    if is_unspaced(c) {
        Class::Unspaced
    } else if c.is_numeric() {
        Class::Digit
    } else if c.is_uppercase() {
        Class::Upper
    } else {
        Class::Lower
    }
}

/// Splits at changes of case, digits and script.
fn split_word(word: &[char], term: &mut String, emit: &mut impl FnMut(&str, bool)) {
    let mut start = 0;
    let mut parts = 0;
    let mut spaced = true;
    for at in 1..=word.len() {
        let ends = at == word.len() || {
            let (before, here) = (class(word[at - 1]), class(word[at]));
            match (before, here) {
                (Class::Upper, Class::Lower) => false,
                // `HTTPServer`: the last capital of a run begins the next part.
                (Class::Upper, Class::Upper) => {
                    word.get(at + 1).is_some_and(|next| class(*next) == Class::Lower)
                }
                (before, here) => before != here,
            }
        };
        if ends {
            let part = &word[start..at];
            if class(part[0]) == Class::Unspaced {
                spaced = false;
                grams(part, term, emit);
            } else {
                fold(part, term);
                stem(term);
                emit(term, false);
            }
            parts += 1;
            start = at;
        }
    }
    if parts > 1 && spaced {
        fold(word, term);
        stem(term);
        emit(term, true);
    }
}

/// Pairs of characters, and a lone one by itself.
fn grams(run: &[char], term: &mut String, emit: &mut impl FnMut(&str, bool)) {
    for pair in run.windows(2) {
        term.clear();
        term.extend(pair);
        emit(term, false);
    }
    for one in run {
        term.clear();
        term.push(*one);
        emit(term, run.len() > 1);
    }
}

fn fold(word: &[char], term: &mut String) {
    term.clear();
    term.extend(word.iter().take(MAX_TERM).flat_map(|c| c.to_lowercase()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<String> {
        let mut out = Vec::new();
        terms(text, |term, whole| {
            if !whole {
                out.push(term.to_owned());
            }
        });
        out
    }

    #[test]
    fn identifiers_come_apart() {
        assert_eq!(parts("getUserName"), ["get", "user", "nam"]);
        assert_eq!(parts("get_user-name"), ["get", "user", "nam"]);
        assert_eq!(parts("HTTPServer2fa"), ["http", "serv", "2", "fa"]);
        assert_eq!(parts("openclaw:fs:read"), ["openclaw", "fs", "read"]);
    }

    #[test]
    fn every_script_gives_terms() {
        assert_eq!(parts("Показать портфель"), ["показать", "портфель"]);
        assert_eq!(parts("查询订单"), ["查询", "询订", "订单"]);
        assert_eq!(parts("Ünïcode ＡＢ"), ["unicod", "ab"]);
        assert_eq!(parts("주문 조회"), ["주문", "조회"]);
        assert_eq!(parts("عرض الطلبات"), ["عرض", "الطلبات"]);
        assert_eq!(parts("हिन्दी"), ["हिन्दी"]);
        assert!(parts(" -_!?\n").is_empty());
    }
}
