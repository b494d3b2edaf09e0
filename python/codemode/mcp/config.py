"""Which MCP servers to use: the usual `mcpServers` JSON, checked before anything is started."""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

DEFAULT_START_SECONDS = 30.0
DEFAULT_CALL_SECONDS = 600.0

_TYPES = {
    "stdio": "stdio",
    "http": "http",
    "streamable-http": "http",
    "streamable_http": "http",
    "streamableHttp": "http",
}
_COMMON = ("type", "disabled", "allow", "deny", "directOnly", "timeouts")
_KEYS = {
    "stdio": (*_COMMON, "command", "args", "env", "cwd"),
    "http": (*_COMMON, "url", "headers"),
}
# Keys that other clients write into the same file and that mean nothing here. Files are pasted
# from there, so these are noted; any other unknown key is likely a slip of the pen and refused.
_FOREIGN = frozenset(
    (
        *("$schema", "alwaysAllow", "autoApprove", "autoApproved", "autoStart", "description"),
        *("displayName", "enabledTools", "excludeTools", "gallery", "icon", "id", "includeTools"),
        *("metadata", "name", "note", "oauth", "restart", "timeout", "title", "trust", "version"),
    )
)
# What other programs call the same.
_OTHER_WORDS = {
    **dict.fromkeys(("cmd", "executable", "program"), "command"),
    **dict.fromkeys(("endpoint", "httpUrl", "serverUrl", "uri"), "url"),
    "arguments": "args",
    "environment": "env",
    "workingDirectory": "cwd",
}
_TOP = ("mcpServers", "servers", "codeMode")
# `$${` stands for a literal `${`.
_VARIABLE = re.compile(r"\$\$(?=\{)|\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


class McpConfigError(ValueError):
    """A server configuration that is refused; names the server, the field and the value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StdioServer:
    """A server that is started as a child process.

    Attributes:
        command: Program, looked up in PATH.
        args: Its arguments.
        env: Variables added to a small inherited set (HOME, LOGNAME, PATH, SHELL, TERM, USER).
        cwd: Working directory, or None for that of this process.
    """

    command: str
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpServer:
    """A server that is reached over streamable HTTP.

    Attributes:
        url: The endpoint.
        headers: Sent with every request.
    """

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerConfig:
    """One server and what of it may be used.

    Attributes:
        name: The key in `mcpServers`; the owner in catalog ids.
        transport: How it is reached.
        allow: Patterns (`*`, `?`) of tools to offer; None for all.
        deny: Patterns of tools to leave out; wins over `allow`.
        direct_only: Patterns of tools that the model sees and calls itself (results with images).
        start_seconds: Most time from the start of the connection to its list of tools.
        call_seconds: Most time of one request.
    """

    name: str
    transport: StdioServer | HttpServer
    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()
    direct_only: tuple[str, ...] = ()
    start_seconds: float = DEFAULT_START_SECONDS
    call_seconds: float = DEFAULT_CALL_SECONDS

    def offers(self, tool: str) -> bool:
        """Whether the lists of this server let `tool` through."""
        allowed = self.allow is None or _matches(tool, self.allow)
        return allowed and not _matches(tool, self.deny)

    def is_direct(self, tool: str) -> bool:
        """Whether the model calls `tool` itself."""
        return _matches(tool, self.direct_only)


@dataclass(frozen=True, slots=True, kw_only=True)
class McpConfig:
    """All servers of one configuration.

    Attributes:
        servers: Those that are not disabled, in file order.
        code_mode: The `codeMode` object of the file, unread, or None.
        notes: What was ignored, one sentence each.
    """

    servers: tuple[ServerConfig, ...] = ()
    code_mode: Any = None
    notes: tuple[str, ...] = ()

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> McpConfig:
        """Reads a configuration file. A relative `cwd` counts from the file's directory.

        Raises:
            McpConfigError: Not readable, not JSON, or refused by `parse`.
        """
        file = Path(path)
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
        except OSError as e:
            raise McpConfigError(f"{file}: cannot be read: {e.strerror or e}") from e
        except ValueError as e:
            raise McpConfigError(f"{file}: not JSON: {e}") from e
        return cls.parse(data, base=file.resolve().parent)

    @classmethod
    def parse(
        cls,
        data: object,
        *,
        environ: Mapping[str, str] | None = None,
        base: str | os.PathLike[str] | None = None,
    ) -> McpConfig:
        """Reads `{"mcpServers": {name: server}}`; `servers` is taken as the same key.

        Args:
            data: The parsed JSON.
            environ: Where `${VAR}` and `${VAR:-default}` look; the process environment if None.
            base: Where a relative `cwd` counts from; this process's directory if None.

        Raises:
            McpConfigError: Unknown key, wrong type, variable that is not set, no transport.
        """
        if not isinstance(data, Mapping):
            raise McpConfigError(f"MCP configuration: {_show(data)} is not an object")
        servers = data.get("mcpServers", data.get("servers"))
        if servers is None or not data.keys() <= set(_TOP):
            _check_top(data)
        if not isinstance(servers, Mapping):
            raise McpConfigError(
                f"mcpServers: {_show(servers)} is not an object of servers by name"
            )
        notes: list[str] = []
        read: list[ServerConfig] = []
        for name, body in servers.items():
            if not isinstance(name, str) or not name.strip():
                raise McpConfigError(f"mcpServers: {_show(name)} is not a server name")
            reader = _Reader(name, body, os.environ if environ is None else environ, base)
            if reader.get("disabled", bool, False):
                notes.append(f"{name}: disabled")
                continue
            read.append(reader.server())
            notes.extend(reader.notes)
        return cls(servers=tuple(read), code_mode=data.get("codeMode"), notes=tuple(notes))


class _Reader:
    """Reads the object of one server; every error names the server, the field and the value."""

    def __init__(
        self,
        name: str,
        body: object,
        environ: Mapping[str, str],
        base: str | os.PathLike[str] | None,
    ) -> None:
        self.name = name
        self.notes: list[str] = []
        self._environ = environ
        self._base = base
        if not isinstance(body, Mapping):
            raise McpConfigError(f"server {name!r}: {_show(body)} is not an object")
        self._body: Mapping[str, Any] = body

    def server(self) -> ServerConfig:
        kind = self._kind()
        for key in self._body:
            self._check_key(key, kind)
        transport = self._stdio() if kind == "stdio" else self._http()
        timeouts = self.get("timeouts", dict, {})
        for key in timeouts:
            if key not in ("start", "call"):
                raise self._error(f"timeouts.{key}", timeouts[key], "expected start, call")
        allow = self.get("allow", list, None)
        return ServerConfig(
            name=self.name,
            transport=transport,
            allow=None if allow is None else self._texts("allow", allow),
            deny=self._texts("deny", self.get("deny", list, [])),
            direct_only=self._texts("directOnly", self.get("directOnly", list, [])),
            start_seconds=self._seconds(timeouts, "start", DEFAULT_START_SECONDS),
            call_seconds=self._seconds(timeouts, "call", DEFAULT_CALL_SECONDS),
        )

    def get(self, key: str, kind: type, default: Any) -> Any:
        value = self._body.get(key)
        if value is None:
            return default
        if not isinstance(value, kind):
            word = {dict: "an object", list: "an array", str: "a string", bool: "true or false"}
            raise self._error(key, value, f"expected {word[kind]}")
        return value

    def _kind(self) -> str:
        word = self.get("type", str, None)
        if word is not None:
            if word == "sse":
                hint = 'the old SSE transport is not supported; use "http" if the server has it'
                raise self._error("type", word, hint)
            if word not in _TYPES:
                raise self._error("type", word, 'expected "stdio" or "http"')
            return _TYPES[word]
        if ("command" in self._body) == ("url" in self._body):
            near = [(k, _near(k, ("command", "url"))) for k in self._body]
            hint = "".join(f"; did you mean {meant} by {k}?" for k, meant in near if meant)
            raise McpConfigError(f"server {self.name!r}: expected either command or url{hint}")
        return "stdio" if "command" in self._body else "http"

    def _check_key(self, key: object, kind: str) -> None:
        known = _KEYS[kind]
        if key in known:
            return
        if key in _FOREIGN:
            self.notes.append(f"{self.name}: {key} is ignored; it belongs to another client")
            return
        near = _near(key, known)
        hint = f"did you mean {near}?" if near else f"known for {kind}: {', '.join(known)}"
        raise self._error(str(key), self._body[cast("str", key)], f"unknown key; {hint}")

    def _stdio(self) -> StdioServer:
        command = self._text("command", self.get("command", str, ""))
        if not command:
            raise self._error("command", command, "expected a program")
        cwd = self.get("cwd", str, None)
        if cwd is not None:
            path = Path(self._text("cwd", cwd)).expanduser()
            cwd = str(Path(self._base) / path if self._base is not None else path)
        return StdioServer(
            command=str(Path(command).expanduser()) if command[0] == "~" else command,
            args=self._texts("args", self.get("args", list, [])),
            env=self._table("env"),
            cwd=cwd,
        )

    def _http(self) -> HttpServer:
        url = self._text("url", self.get("url", str, ""))
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise self._error("url", url, "expected an http or https address")
        return HttpServer(url=url, headers=self._table("headers"))

    def _table(self, key: str) -> dict[str, str]:
        table = self.get(key, dict, {})
        for name, value in table.items():
            if not isinstance(value, str):
                # Not shown: it may be half of a secret.
                kind = type(value).__name__
                raise McpConfigError(
                    f"server {self.name!r}: {key}.{name}: expected a string, got {kind}"
                )
        return {k: self._text(f"{key}.{k}", v) for k, v in table.items()}

    def _texts(self, key: str, items: list[Any]) -> tuple[str, ...]:
        for i, item in enumerate(items):
            if not isinstance(item, str):
                raise self._error(f"{key}[{i}]", item, "expected a string")
        return tuple(self._text(f"{key}[{i}]", item) for i, item in enumerate(items))

    def _text(self, key: str, value: str) -> str:
        def replace(match: re.Match[str]) -> str:
            if match.group(0) == "$$":
                return "$"
            name, default = match.group(1), match.group(2)
            # As in a shell, `:-` also stands in for a variable that is set to nothing.
            found = self._environ.get(name)
            if found or (found is not None and default is None):
                return found
            if default is None:
                raise self._error(key, match.group(0), f"the variable {name} is not set")
            return default

        return _VARIABLE.sub(replace, value)

    def _seconds(self, timeouts: Mapping[str, Any], key: str, default: float) -> float:
        value = timeouts.get(key, default)
        good = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not good or not 0 < value <= 86_400:
            hint = "expected seconds, more than 0 and at most 86400"
            raise self._error(f"timeouts.{key}", value, hint)
        return float(value)

    def _error(self, key: str, value: object, hint: str) -> McpConfigError:
        return McpConfigError(f"server {self.name!r}: {key}: {_show(value)} is not allowed; {hint}")


def _check_top(data: Mapping[str, Any]) -> None:
    """Refuses a slip of the pen; what else other clients write into the same file is ignored.

    Raises:
        McpConfigError: A known key is misspelled, or there are no servers.
    """
    for key in data:
        near = None if key in _TOP else _near(key, _TOP)
        if near is not None and near not in data:
            raise McpConfigError(f"{key}: unknown key; did you mean {near}?")
    if data.keys().isdisjoint(("mcpServers", "servers")):
        bodies = [
            k for k, v in data.items() if isinstance(v, Mapping) and {"command", "url"} & {*v}
        ]
        hint = f"; put {', '.join(map(repr, bodies))} into it" if bodies else ""
        raise McpConfigError(f'MCP configuration: there is no "mcpServers" object{hint}')


def _near(key: object, known: tuple[str, ...]) -> str | None:
    """The known key that is likely meant by another one."""
    meant = _OTHER_WORDS.get(str(key))
    if meant in known:
        return meant
    lower = {name.lower(): name for name in known}
    plain = str(key).lower().replace("_", "").replace("-", "")
    close = difflib.get_close_matches(plain, lower, 1, 0.75)
    return lower[close[0]] if close else None


def _matches(tool: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(tool, pattern) for pattern in patterns)


def _show(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else shown[:77] + "..."
