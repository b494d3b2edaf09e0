//! How MCP servers and tools are spelt in the guest.

use rustc_hash::FxHashSet;

use crate::text::{is_identifier_part, is_identifier_start, is_object_member, is_reserved_word};

/// A server or tool and what it is called in the guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Identifier, unique among its neighbours: `createIssue`.
    pub key: String,
    /// The original spelling where it can be used too (by bracket), else `key` again: it may be
    /// another's key, or a name that is taken.
    pub alias: String,
}

/// A server with its tools, both in the order given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerNames {
    /// The server; `mcp/<key>.d.ts` is its declaration file.
    pub server: Named,
    /// Its tools.
    pub tools: Vec<Named>,
}

/// Names of `servers`: each its name and the names of its tools. The same names in another order
/// get the same keys.
pub fn mcp_names(servers: &[(String, Vec<String>)]) -> Vec<ServerNames> {
    // `index.d.ts` is the file that lists the servers.
    let names = keys(servers.iter().map(|(name, _)| name.as_str()), "server", &["index"]);
    names
        .into_iter()
        .zip(servers)
        .map(|(server, (_, tools))| ServerNames {
            server,
            tools: keys(
                tools.iter().map(String::as_str),
                "tool",
                &["$api", "prompts", "resources"],
            ),
        })
        .collect()
}

fn keys<'a>(names: impl Iterator<Item = &'a str>, fallback: &str, reserved: &[&str]) -> Vec<Named> {
    let names: Vec<&str> = names.collect();
    let wanted: Vec<String> = names
        .iter()
        .map(|name| {
            let key = camel_case(name);
            if key.is_empty() { fallback.to_owned() } else { key }
        })
        .collect();
    let free =
        |key: &str| !reserved.contains(&key) && !is_reserved_word(key) && !is_object_member(key);
    // A tool that is spelt like a key keeps it; the others follow in order of their names.
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|&at| (names[at] != wanted[at], names[at]));
    let mut taken: FxHashSet<String> = FxHashSet::default();
    let mut next: rustc_hash::FxHashMap<&str, usize> = rustc_hash::FxHashMap::default();
    let mut out = vec![String::new(); names.len()];
    for at in order {
        let base = wanted[at].as_str();
        let mut key = base.to_owned();
        let n = next.entry(base).or_insert(2);
        while taken.contains(&key) || !free(&key) {
            key = format!("{base}{n}");
            *n += 1;
        }
        taken.insert(key.clone());
        out[at] = key;
    }
    let mut aliases: FxHashSet<&str> = FxHashSet::default();
    out.iter()
        .zip(&names)
        .map(|(key, name)| {
            let usable = !name.is_empty()
                && !reserved.contains(name)
                && !is_object_member(name)
                && !taken.contains(*name)
                && aliases.insert(name);
            Named { key: key.clone(), alias: if usable { (*name).to_owned() } else { key.clone() } }
        })
        .collect()
}

/// `create_issue`, `Create Issue`, `create-issue` to `createIssue`; an empty text if nothing of
/// the name can be part of an identifier.
fn camel_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for word in name.split(|c: char| c == '_' || c == '$' || !is_identifier_part(c)) {
        if word.is_empty() {
            continue;
        }
        if out.is_empty() {
            lower_first(word, &mut out);
        } else {
            let mut chars = word.chars();
            out.extend(chars.next().into_iter().flat_map(char::to_uppercase));
            out.push_str(chars.as_str());
        }
    }
    // Case mapping can leave what may not begin an identifier, or was no identifier to begin with.
    out.retain(is_identifier_part);
    if out.chars().next().is_some_and(|c| !is_identifier_start(c)) {
        out.insert(0, '_');
    }
    out
}

/// `Create` to `create`, `API` to `api`, `HTTPServer` to `httpServer`.
fn lower_first(word: &str, out: &mut String) {
    let chars: Vec<char> = word.chars().collect();
    let capitals = chars.iter().take_while(|c| c.is_uppercase()).count();
    let lowered = match chars.get(capitals) {
        Some(next) if capitals > 1 && next.is_lowercase() => capitals - 1,
        _ => capitals,
    };
    out.extend(chars[..lowered].iter().flat_map(|c| c.to_lowercase()));
    out.extend(&chars[lowered..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(names: &[&str]) -> Vec<(String, String)> {
        let servers = [("s".to_owned(), names.iter().map(|n| (*n).to_owned()).collect())];
        let tools = mcp_names(&servers).remove(0).tools;
        tools.into_iter().map(|n| (n.key, n.alias)).collect()
    }

    fn keys_of(names: &[&str]) -> Vec<String> {
        tools(names).into_iter().map(|(key, _)| key).collect()
    }

    #[test]
    fn names_become_camel_case() {
        assert_eq!(
            keys_of(&[
                "create_issue",
                "list-all",
                "API_list",
                "HTTPServer",
                "getURL",
                "2fa",
                "поиск"
            ]),
            ["createIssue", "listAll", "apiList", "httpServer", "getURL", "_2fa", "поиск"]
        );
    }

    #[test]
    fn collisions_and_reserved_words_get_numbers_whatever_the_order() {
        let names =
            ["get_user", "get-user", "getUser", "delete", "then", "$api", "resources", "", "?"];
        let expected = [
            "getUser3",
            "getUser2",
            "getUser",
            "delete2",
            "then2",
            "api",
            "resources2",
            "tool",
            "tool2",
        ];
        assert_eq!(keys_of(&names), expected);
        let reversed: Vec<&str> = names.iter().rev().copied().collect();
        let mut keys = keys_of(&reversed);
        keys.reverse();
        assert_eq!(keys, expected);
    }

    #[test]
    fn an_alias_never_hides_a_key_or_a_helper() {
        let got =
            tools(&["getUser2", "get_user", "get-user", "resources", "__proto__", "constructor"]);
        let aliases: Vec<&str> = got.iter().map(|(_, alias)| alias.as_str()).collect();
        assert_eq!(
            aliases,
            ["getUser2", "get_user", "get-user", "resources2", "proto", "constructor2"]
        );
        let twice = tools(&["a b", "a b"]);
        assert_eq!(twice[0], ("aB".into(), "a b".into()));
        assert_eq!(twice[1], ("aB2".into(), "aB2".into()));
    }

    #[test]
    fn c16_servers_with_path_names_get_files_of_their_own() {
        let servers =
            ["index", "a/b", "..", "github.d.ts", "a-b"].map(|n| (n.to_owned(), Vec::new()));
        let keys: Vec<String> = mcp_names(&servers).into_iter().map(|s| s.server.key).collect();
        assert_eq!(keys, ["index2", "aB2", "server", "githubDTs", "aB"]);
    }
}
