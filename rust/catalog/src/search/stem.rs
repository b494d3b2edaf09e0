//! A light English stemmer: enough that plural, tense and noun forms of a word meet.

/// Suffixes and what stands for them, longest first. Both a query and a document go through the
/// same table, so a stem need not be a word.
const ENDINGS: &[(&str, &str)] = &[
    ("ations", "at"),
    ("ation", "at"),
    ("ments", ""),
    ("ment", ""),
    ("ings", ""),
    ("ions", ""),
    ("ies", "y"),
    ("ing", ""),
    ("ion", ""),
    ("ers", ""),
    ("ors", ""),
    ("ed", ""),
    ("er", ""),
    ("or", ""),
    ("es", "e"),
    ("ly", ""),
    ("s", ""),
];

/// Letters that a stem keeps at least.
const SHORTEST: usize = 3;

/// Stems one lower-case word; what is not plain ASCII letters stays as it is.
pub(super) fn stem(word: &mut String) {
    if word.len() <= SHORTEST || !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return;
    }
    for (ending, instead) in ENDINGS {
        let Some(base) = word.strip_suffix(ending) else { continue };
        let keeps_enough = base.len() + instead.len() >= SHORTEST && base.bytes().any(is_vowel);
        // `address`, `status`, `analysis` are no plurals.
        let is_plural = *ending != "s" || !base.ends_with(['s', 'u', 'i']);
        if keeps_enough && is_plural {
            let at = base.len();
            word.truncate(at);
            word.push_str(instead);
            if instead.is_empty() {
                undouble(word);
            }
            break;
        }
    }
    if word == "email" {
        // `e-mail` comes in two words.
        word.remove(0);
    }
    if word.len() > SHORTEST && word.ends_with('e') {
        word.pop();
    }
    if word.len() >= SHORTEST && word.ends_with('y') {
        word.pop();
        word.push('i');
    }
}

fn is_vowel(b: u8) -> bool {
    matches!(b, b'a' | b'e' | b'i' | b'o' | b'u' | b'y')
}

/// `shipp` (of `shipping`) to `ship`; `call`, `miss`, `buzz` stay.
fn undouble(word: &mut String) {
    let bytes = word.as_bytes();
    if let [.., a, b] = bytes
        && a == b
        && !is_vowel(*b)
        && !matches!(b, b'l' | b's' | b'z')
        && bytes.len() > SHORTEST
    {
        word.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::stem;

    fn stemmed(word: &str) -> String {
        let mut word = word.to_owned();
        stem(&mut word);
        word
    }

    #[test]
    fn forms_of_a_word_meet() {
        for forms in [
            &["ship", "ships", "shipping", "shipped", "shipment", "shipments"][..],
            &["create", "creates", "creating", "created", "creation", "creator"],
            &["query", "queries", "querying"],
            &["message", "messages", "messaging"],
            &["delete", "deleting", "deleted", "deletion"],
            &["file", "files", "filing"],
            &["search", "searching", "searched", "searcher"],
            &["calculate", "calculator", "calculation"],
            &["box", "boxing"],
            &["call", "calls", "calling"],
            &["stop", "stopped", "stopping"],
            &["mail", "mails", "mailing", "email", "emails"],
        ] {
            for form in forms {
                assert_eq!(stemmed(form), stemmed(forms[0]), "{form}");
            }
        }
    }

    #[test]
    fn short_and_foreign_words_stay() {
        for word in ["is", "bus", "red", "портфель", "naïves", "status", "s3s"] {
            assert_eq!(stemmed(word), word);
        }
    }
}
