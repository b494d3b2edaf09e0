//! exe.7: shell commands are told from programs, in both directions.

#![allow(missing_docs)]

mod engine;

use engine::{JAVASCRIPT, TYPESCRIPT, value_of};

#[test]
fn exe_7_shell_commands_are_refused_with_the_way_to_tools() {
    let commands = [
        "ls -la",
        "ls",
        "pwd",
        "whoami",
        "ls\npwd",
        "ls;",
        "git status",
        "git commit -m \"x\"",
        "cd /x && npm test",
        "cd /tmp",
        "cd ..",
        "cd ~",
        "cd",
        "#!/bin/bash\necho hi",
        "#!/bin/sh\nset -e\nls",
        "FOO=bar ./x",
        "FOO=bar BAZ=1 npm test",
        "cat a | grep b",
        "cat file.txt",
        "cat < in.txt > out.txt",
        "echo \"hi\"",
        "echo hi",
        "echo $HOME",
        "pip install x",
        "python script.py",
        "python3 -c \"print(1)\"",
        "curl https://example.test",
        "curl -s https://example.test/a?b=1 | jq .",
        "sudo apt-get install -y x",
        "./run.sh",
        "./run.sh --flag",
        "/usr/bin/env ls",
        "../bin/x y",
        "~/bin/tool",
        "export A=b",
        "export PATH=$PATH:/x",
        "$ ls",
        "$ git log --oneline",
        "rm -rf /tmp/x",
        "rm -rf node_modules",
        "mkdir -p a/b",
        "grep -r \"foo\" .",
        "find . -name \"*.py\"",
        "ls -la | wc -l",
        "df -h",
        "ps aux",
        "ps -ef",
        "npm install",
        "npm run build",
        "node index.js",
        "node --version",
        "docker ps",
        "docker run -it ubuntu",
        "uname -a",
        "tail -n 20 log.txt",
        "head -5 a",
        "chmod +x run.sh",
        "tar -xzf a.tgz",
        "which node",
        "env",
        "date",
        "date +%s",
        "if [ -f x ]; then\n  echo yes\nfi",
        "for f in *.txt; do\n  cat $f\ndone",
        "while true; do\n  sleep 1\ndone",
        "cat <<EOF\nhi\nEOF",
        "cat > a.js <<'EOF'\nconst x = 1;\nEOF",
        "# list files\nls -la\n",
        "cd /app\nnpm ci\nnpm test",
        "ls /tmp/*.log",
        "ls > out.txt",
        "ls && pwd",
        "touch a.txt; ls",
        "wc -l < file",
        "sed -i 's/a/b/' x",
        "awk '{print $1}' x",
        "```\nls -la\n```",
        "```sh\nfoo --bar\n```",
        "bash -c 'echo hi'",
        "time ls",
        "kill -9 123",
        "make",
        "make test",
        "test -f x && echo y",
        "A=1 node x.js",
        "go build ./...",
        "apt-get update",
        "docker-compose up -d",
        "for f in *; do echo $f; done",
        "while true; do ls; done",
        "until false; do ls; done",
        "exit",
        "exit 0",
        "unset X",
        "% ls",
        "C:\\> dir",
        "C:\\Users\\me> dir /s",
        "PS C:\\> whatever -now",
        "me@host:~$ frobnicate -x",
        "Get-ChildItem",
        "Get-ChildItem -Path C:\\",
        "Write-Host 'x'",
        "ipconfig /all",
        "del x.txt",
    ];
    let missed: Vec<String> = commands
        .iter()
        .flat_map(|c| [(c, JAVASCRIPT), (c, TYPESCRIPT)])
        .filter_map(|(code, options)| match codemode_source::prepare(code, &options) {
            Err(r) if r.message.contains("shell") && r.message.contains("do not retry") => None,
            other => Some(format!("{code:?}: {other:?}")),
        })
        .collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    let message = engine::javascript("ls").expect_err("shell").message;
    assert!(message.contains("tools.search(\"run shell command\")"), "{message}");
}

#[test]
fn exe_7_programs_that_look_alike_run() {
    let programs = [
        ("const ls = 7; return ls;", "7"),
        ("const ls = 7; ls", "7"),
        ("const ls = 7, la = 2; ls -la", "5"),
        ("const git = { status: () => 1 }; git.status()", "1"),
        ("const find = 1; find", "1"),
        ("var date = new Date(0); date.getTime()", "0"),
        ("const sort = (a) => a; sort([2, 1])", "[2,1]"),
        ("let test = true; test && 1", "1"),
        ("const make = 4; make / 2", "2"),
        ("const type = 'x'; type", "\"x\""),
        ("const env = { A: 1 };\nenv.A", "1"),
        ("let id = 1\nid - 1", "0"),
        ("const cat = { meow: 1 }; return cat.meow", "1"),
        ("const echo = (x) => x;\necho(\"hi\")", "\"hi\""),
        ("const s = \"ls -la\"; s", "\"ls -la\""),
        ("'git status'", "\"git status\""),
        ("`rm -rf /`", "\"rm -rf /\""),
        ("FOO = 1", "1"),
        ("top = 3\ntop", "3"),
        ("// ls -la\nreturn 1", "1"),
        ("const cd = (x) => x\ncd('..')", "\"..\""),
        ("const Get = 5, ChildItem = 2; Get-ChildItem", "3"),
        ("let exit = 4\nexit", "4"),
        ("const Sort = 5, Item = 2; Sort - Item", "3"),
    ];
    for (code, expected) in programs {
        assert_eq!(value_of(code, JAVASCRIPT).as_deref(), Ok(expected), "{code}");
    }
}

#[test]
fn exe_7_broken_programs_are_not_taken_for_shell() {
    let programs = [
        "date = new Date(",
        "const ls = ;",
        "type Foo = {",
        "find(x => x.id ===",
        "test(1, 2",
        "sort = (a, b => a",
        "file: {",
        "id: 1, name: 'x', }",
        "echo(`x",
        "if (a) { git.status(",
        "export A",
        "for (const f of files) { cat(f)",
        "head.next = {",
        "let x = await fetch(;",
        "const r = await tools.exec({ command: 'ls -la' );",
        "return cat file",
        "type: 'x', a: 1 }",
        "class A { set x(v) { this.y = v }\n  set y(v) { this.z = }",
        "for (const a of b; do x; then y",
        "const path = 'C:\\\\x>' + ;",
        "x.sort-by y",
        "if (a) b; else do c; while (d); then e",
        "const mail = 'me@host:~$ x' +;",
    ];
    for code in programs {
        let message = engine::javascript(code).expect_err(code).message;
        assert!(message.starts_with("SyntaxError"), "{code:?}: {message}");
    }
}
