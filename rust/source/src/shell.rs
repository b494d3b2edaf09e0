//! Shell commands, told from programs that merely look alike.

/// Words that start a command line. None of them is a global of the guest.
const COMMANDS: &str = "\
    alias apk apt awk aws az base64 basename bash brew bun bundle bunx cargo cat cd chmod \
    chown clear cls cmake cmd comm conda cp crontab curl cut date dd del deno df diff dig dir \
    dirname dmesg dnf docker dpkg du echo egrep env esbuild eslint exit ffmpeg fgrep file find \
    free gcc gcloud gem gh git go grep gunzip gzip head helm history host hostname htop id \
    ifconfig ip ipconfig java javac jest journalctl jq kill killall kubectl less ln ls lsblk lscpu \
    lsof make man md5sum mkdir mktemp mount mv mvn mysql nano nc netstat nl node nohup npm \
    nproc npx nslookup openssl passwd patch perl php ping pip pip3 pipx pkill pnpm poetry \
    powershell printenv printf ps psql pwd pwsh py pytest python python2 python3 readlink \
    realpath redis rg rm rmdir rsync ruby rustc scp screen sed service sh sha256sum shasum \
    sleep sort source sqlite3 ss ssh stat strings stty su sudo systemctl tac tail tar \
    tasklist tee telnet terraform test time tmux top touch tr tree tsc tsx type uname uniq unset \
    unzip uptime uv uvx vi vim wc wget where whereis which who whoami xargs xxd yarn yum zip \
    zsh";

/// Whether a word names a well-known command.
pub(crate) fn is_command(word: &str) -> bool {
    COMMANDS.split(' ').any(|command| command == word)
}

/// The same with what can only be a command where a text does not parse: `apt-get`, `Get-Item`.
fn is_command_word(word: &str) -> bool {
    let tail = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    match word.split_once('-') {
        Some((first, rest)) => {
            rest.chars().all(tail) && (is_command(first) || is_cmdlet(first, rest))
        }
        None => is_command(word),
    }
}

/// The two words of a command of `PowerShell`.
pub(crate) fn is_cmdlet(verb: &str, noun: &str) -> bool {
    const VERBS: &str = "Add Clear Copy ConvertFrom ConvertTo Export ForEach Format Get Import \
        Install Invoke Move New Out Read Remove Select Set Sort Start Stop Test Where Write";
    noun.starts_with(|c: char| c.is_ascii_uppercase()) && VERBS.split(' ').any(|v| v == verb)
}

/// Whether a language tag of a fence names a shell.
pub(crate) fn is_tag(tag: &str) -> bool {
    matches!(
        tag,
        "bash" | "sh" | "shell" | "zsh" | "console" | "powershell" | "bat" | "cmd" | "fish"
    )
}

/// Whether a text that is no program is a shell command or script. Only asked when it does not
/// parse: what parses is judged on the tree, see `cell::shell_word`.
pub(crate) fn looks_like(text: &str) -> bool {
    let mut commands = 0_u32;
    let mut code = 0_u32;
    let mut block = false;
    for line in text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')) {
        let line = ["$ ", "> ", "% "].iter().find_map(|p| line.strip_prefix(p)).unwrap_or(line);
        if has_prompt(line) || is_command_line(line) {
            commands += 1;
        } else if is_block_line(line) {
            block = true;
        } else if looks_like_code(line) {
            code += 1;
        }
    }
    (commands > 0 || (block && code == 0)) && commands >= code
}

/// A line with the prompt of a shell that names a place: `C:\>`, `PS C:\>`, `name@host:~$`.
fn has_prompt(line: &str) -> bool {
    let windows = |place: &str| {
        let drive = place.as_bytes();
        drive.len() >= 3 && drive[0].is_ascii_uppercase() && &drive[1..3] == b":\\"
    };
    if let Some((place, _)) = line.split_once('>') {
        let place = place.strip_prefix("PS ").unwrap_or(place);
        return windows(place);
    }
    let place = line.split_once("$ ").or_else(|| line.split_once("# "));
    place.is_some_and(|(place, _)| {
        place.contains('@') && place.contains([':', '~']) && !place.contains([' ', '"', '\''])
    })
}

/// One line of the form `word arguments`, `./script`, `NAME=value command` or `export NAME=value`.
fn is_command_line(line: &str) -> bool {
    let mut rest = line;
    while let Some(after) = assignment(rest) {
        if after.is_empty() {
            return false;
        }
        rest = after;
    }
    let assigned = rest.len() < line.len();
    if let Some(name) = rest.strip_prefix("export ") {
        return assignment(name.trim_start()).is_some();
    }
    let end = rest.find(|c: char| c.is_whitespace() || matches!(c, ';' | '|' | '&' | '<' | '>'));
    let (word, arguments) = rest.split_at(end.unwrap_or(rest.len()));
    let path = is_path(word);
    if !path && !is_command_word(word) {
        // `FOO=bar something --flag`
        return assigned && arguments.trim_start().starts_with('-');
    }
    let arguments = arguments.trim_start();
    // What follows a name in a program and not in a command.
    let program = ["=", "(", "=>", "?", ": ", ".(", ", ", "+ ", "* ", "in ", "of ", "instanceof "]
        .iter()
        .any(|p| arguments.starts_with(p));
    !(program || word == "type" && arguments.contains('='))
}

/// `./run.sh`, `/usr/bin/env`, `~/bin/x`, `../x`: paths, not regular expressions or comments.
fn is_path(word: &str) -> bool {
    let body = ["./", "../", "~/", "/"].iter().find_map(|p| word.strip_prefix(p));
    body.is_some_and(|b| {
        b.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.')
            && b.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+@".contains(c))
    })
}

/// Strips a leading `NAME=value` of the shell, without spaces around `=`; the rest of the line.
fn assignment(line: &str) -> Option<&str> {
    let equals = line.find('=')?;
    let name = &line[..equals];
    let is_name = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let value = &line[equals + 1..];
    if !is_name || value.starts_with(['=', '>', ' ', '(']) {
        return None;
    }
    let end = match value.as_bytes().first() {
        Some(&quote @ (b'"' | b'\'')) => value[1..].find(quote as char)? + 2,
        _ => value.find(char::is_whitespace).unwrap_or(value.len()),
    };
    let (value, rest) = value.split_at(end);
    if value.ends_with([';', ',']) { None } else { Some(rest.trim_start()) }
}

/// Lines that only a shell script has.
fn is_block_line(line: &str) -> bool {
    let opens = ["if [ ", "if [[ ", "elif [ ", "while [ ", "[ -", "[[ "];
    let closes = ["; then", "; do", " <<EOF", " <<'EOF'"];
    // A loop in one line; in a program its head is in parentheses.
    let heads = ["for ", "while ", "until ", "if "];
    let head = heads.iter().find_map(|head| line.strip_prefix(head));
    let in_one_line = head.is_some_and(|rest| {
        !rest.starts_with('(') && (rest.contains("; do ") || rest.contains("; then "))
    });
    in_one_line
        || opens.iter().any(|p| line.starts_with(p))
        || closes.iter().any(|s| line.ends_with(s))
        || matches!(line, "then" | "fi" | "done" | "esac" | "do")
        || (line.starts_with("set -") && line.len() < 16)
}

fn looks_like_code(line: &str) -> bool {
    ["const ", "let ", "var ", "return", "await ", "function", "async ", "import ", "if (", "for ("]
        .iter()
        .any(|p| line.starts_with(p))
        || line.contains("=>")
        || line.ends_with(");")
}
