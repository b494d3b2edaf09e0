"""The `mcpServers` JSON."""

from __future__ import annotations

import json

import pytest

from codemode.mcp import HttpServer, McpConfig, McpConfigError, StdioServer

pytestmark = pytest.mark.req("mcp.5")


def parse(server: object, **environ: str) -> McpConfig:
    return McpConfig.parse({"mcpServers": {"s": server}}, environ=environ)


def test_a_pasted_stdio_server_is_read() -> None:
    read = parse({"command": "npx", "args": ["-y", "x"], "env": {"A": "b"}}).servers[0]
    assert read.name == "s"
    assert read.transport == StdioServer(command="npx", args=("-y", "x"), env={"A": "b"})
    assert read.allow is None


@pytest.mark.parametrize("kind", ["http", "streamable-http", "streamableHttp", None])
def test_an_http_server_is_read_whatever_its_type_is_called(kind: str | None) -> None:
    body = {"url": "https://example.test/mcp", "headers": {"Authorization": "Bearer ${T}"}}
    read = parse(body | ({"type": kind} if kind else {}), T="x").servers[0]
    assert read.transport == HttpServer(
        url="https://example.test/mcp", headers={"Authorization": "Bearer x"}
    )


def test_variables_are_substituted_everywhere() -> None:
    body = {
        "command": "${BIN}",
        "args": ["--root=${ROOT:-/srv}", "${env:ROOT:-/srv}"],
        "env": {"K": "${KEY}-${KEY}"},
        "cwd": "${HOME_DIR}",
    }
    read = parse(body, BIN="b", KEY="k", HOME_DIR="/h").servers[0].transport
    assert read == StdioServer(
        command="b", args=("--root=/srv", "/srv"), env={"K": "k-k"}, cwd="/h"
    )


def test_a_doubled_dollar_is_a_literal_one() -> None:
    read = parse({"command": "c", "args": ["$${A} $5 ${A}"]}, A="a").servers[0].transport
    assert isinstance(read, StdioServer)
    assert read.args == ("${A} $5 a",)


def test_an_empty_variable_takes_the_default_and_without_one_stays_empty() -> None:
    read = parse({"command": "c", "args": ["${A:-d}", "${A}"]}, A="").servers[0].transport
    assert isinstance(read, StdioServer)
    assert read.args == ("d", "")


@pytest.mark.parametrize(
    ("server", "words"),
    [
        ({"command": "c", "args": ["${NOPE}"]}, ["'s'", "args[0]", "NOPE", "not set"]),
        ({"command": "c", "arg": []}, ["'s'", "arg:", "did you mean args?"]),
        ({"command": "c", "args": "x"}, ["'s'", "args", "'x'", "array"]),
        ({"command": "c", "args": [1]}, ["args[0]", "1", "string"]),
        ({"command": "c", "timeouts": {"start": 0}}, ["timeouts.start", "0", "seconds"]),
        ({"command": "c", "timeouts": {"startup": 1}}, ["timeouts.startup"]),
        ({"command": "c", "timeouts": {"call": True}}, ["timeouts.call", "True"]),
        ({"command": "c", "disabled": "yes"}, ["disabled", "'yes'", "true or false"]),
        ({"command": "c", "url": "http://x"}, ["either command or url"]),
        ({}, ["either command or url"]),
        ({"cmd": "c"}, ["'s'", "either command or url", "did you mean command by cmd?"]),
        ({"serverUrl": "http://x"}, ["did you mean url by serverUrl?"]),
        ({"comand": "c", "args": []}, ["did you mean command by comand?"]),
        ({"command": "c", "arguments": []}, ["arguments:", "did you mean args?"]),
        ({"command": "c", "direct_only": []}, ["direct_only:", "did you mean directOnly?"]),
        ({"command": ""}, ["command", "''"]),
        ({"url": "ftp://x"}, ["url", "ftp://x", "http"]),
        ({"type": "sse", "url": "http://x"}, ["type", "sse", "not supported"]),
        ({"type": "stdio", "url": "http://x"}, ["url"]),
        ([], ["'s'", "[]", "not an object"]),
    ],
)
def test_an_error_names_server_field_and_value(server: object, words: list[str]) -> None:
    with pytest.raises(McpConfigError) as error:
        parse(server)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"git": {"command": "c"}, "x": {"url": "u"}}, "no \"mcpServers\" object; put 'git', 'x'"),
        ({"mcp_servers": {}}, "mcp_servers: unknown key; did you mean mcpServers?"),
        ({"mcpServers": {}, "codemode": {}}, "codemode: unknown key; did you mean codeMode?"),
        ({"mcpServers": None}, "None is not an object"),
        ({}, 'there is no "mcpServers" object'),
    ],
)
def test_a_slip_at_the_top_is_refused_with_what_to_do(data: object, words: str) -> None:
    with pytest.raises(McpConfigError) as error:
        McpConfig.parse(data, environ={})
    assert words in str(error.value)


def test_what_else_other_clients_write_at_the_top_is_ignored() -> None:
    other = {"inputs": [], "globalShortcut": "Ctrl+Space", "theme": {"command": 1}}
    assert McpConfig.parse({"mcpServers": {}, **other}).servers == ()


def test_a_secret_of_the_wrong_type_is_not_shown() -> None:
    with pytest.raises(McpConfigError) as error:
        parse({"command": "c", "env": {"TOKEN": 12345}})
    assert "env.TOKEN" in str(error.value)
    assert "12345" not in str(error.value)
    assert "hush" not in repr(parse({"command": "c", "env": {"TOKEN": "hush"}}))


def test_disabled_servers_and_keys_of_other_clients_are_noted() -> None:
    read = McpConfig.parse(
        {
            "mcpServers": {
                "off": {"command": "c", "disabled": True},
                "on": {"command": "c", "autoApprove": ["x"]},
            }
        },
        environ={},
    )
    assert [s.name for s in read.servers] == ["on"]
    assert any("off" in note for note in read.notes)
    assert any("autoApprove" in note for note in read.notes)


def test_deny_wins_over_allow_and_patterns_match_whole_names() -> None:
    read = parse(
        {"command": "c", "allow": ["get_*"], "deny": ["get_secret"], "directOnly": ["*_png"]}
    )
    server = read.servers[0]
    assert server.offers("get_user")
    assert not server.offers("get_secret")
    assert not server.offers("forget_user")
    assert not server.offers("GET_user")
    assert server.is_direct("plot_png")
    assert not server.is_direct("png_list")


def test_a_file_is_read_and_a_relative_cwd_counts_from_it(tmp_path) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"s": {"command": "c", "cwd": "data"}}}))
    read = McpConfig.load(file).servers[0].transport
    assert isinstance(read, StdioServer)
    assert read.cwd == str(tmp_path / "data")


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", '{"mcpServers": []}', '{"mcpServers": {"": {}}}']
)
def test_a_file_that_is_no_configuration_is_refused(tmp_path, text: str) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "mcp.json"
    file.write_text(text)
    with pytest.raises(McpConfigError):
        McpConfig.load(file)
    with pytest.raises(McpConfigError, match="cannot be read"):
        McpConfig.load(tmp_path / "none.json")
