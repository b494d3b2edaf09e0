"""Lines of a server's stdout as messages."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemode.mcp.lines import LongLine, messages, next_line

pytestmark = [pytest.mark.req("mcp.2", "mcp.5"), pytest.mark.hostile]

CONTENT = {"content": [{"type": "text", "text": "hi"}]}
RESULT = json.dumps(CONTENT)


def read(line: str) -> list[dict[str, Any]]:
    return [m.model_dump(exclude_unset=True) for m in messages(line.encode("latin-1"))]


@pytest.mark.parametrize(
    "line",
    [
        f'{{"jsonrpc":"2.0","id":7,"result":{RESULT}}}',
        f'{{"id":7,"result":{RESULT}}}',
        f'\xef\xbb\xbf{{"jsonrpc":"2.0","id":7,"result":{RESULT}}}',
        f'[{{"jsonrpc":"2.0","id":7,"result":{RESULT}}}]',
        f'{{"jsonrpc":"2.0","id":7,"error":null,"result":{RESULT}}}',
    ],
)
def test_an_answer_with_a_slip_in_its_form_is_taken_as_it_is_meant(line: str) -> None:
    assert read(line) == [{"jsonrpc": "2.0", "id": 7, "result": CONTENT}]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"jsonrpc":"2.0","id":7,"error":"plain"}', "plain"),
        ('{"jsonrpc":"2.0","id":7,"error":{"message":"only a message"}}', "only a message"),
        ('{"jsonrpc":"2.0","id":7,"error":{"code":"E","message":"m"}}', "m"),
        ('{"jsonrpc":"2.0","id":7,"error":{"why":1}}', '{"why": 1}'),
        ('{"jsonrpc":"2.0","id":7,"error":"\\ud800"}', "?"),
        ('{"jsonrpc":"2.0","id":7,"error":null}', "result is null"),
        ('{"jsonrpc":"2.0","id":7,"result":"text"}', 'result is "text"'),
        ('{"jsonrpc":"2.0","id":7,"result":[[1]]}', "result is [[1]]"),
        ('{"jsonrpc":"2.0","id":7,"result":{"content":"\xff"}}', "0xff"),
        ('{"id":7,"jsonrpc":"2.0","result":{"content":"\x01"}}', "control character"),
        ('{"jsonrpc":"2.0","result":{"id":8,"a":"\x01"},"id":7}', "control character"),
        ('{"result":{"a":"\x01"}, "id": 7, "jsonrpc": "2.0"}', "control character"),
        (f'{{"id":7,"result":{{"n":{"9" * 5000}}}}}', "4300 digits"),
        (f'{{"id":7,"result":{"[" * 100_000}', "nested too deep"),
        ('{"jsonrpc":"2.0","id":7,', "double quotes"),
    ],
)
def test_an_answer_that_cannot_be_read_is_an_error_for_its_caller(line: str, words: str) -> None:
    (message,) = read(line)
    assert message["id"] == 7
    assert words in message["error"]["message"]


@pytest.mark.parametrize(
    "line",
    [
        "Server is running",
        "",
        "7",
        '{"level":"info","id":7}',
        '{"id":7,"level":"info","result":\x01}',
        '{"a":{"result":{}},"id":7,"x":\x01}',
        '{"jsonrpc":"2.0","id":7,"method":"ping","params":"\x01"}',
        '{"id":true,"result":{}}',
        '{"id":"\\ud800","result":[]}',
        "[1, null]",
    ],
)
def test_what_is_no_answer_answers_nobody(line: str) -> None:
    assert read(line) == []


@given(st.binary(max_size=80))
def test_no_line_breaks_the_reader(line: bytes) -> None:
    for text in (line, b'{"id":7,"result":' + line, b'{"result":' + line + b',"id":7}'):
        assert all(m.model_dump(exclude_unset=True) for m in messages(text))


async def test_a_line_over_the_limit_is_named_to_its_caller_and_the_next_one_is_read() -> None:
    stream = asyncio.StreamReader(limit=1 << 14)
    first = b'{"jsonrpc":"2.0","id":7,"result":"' + b"x" * 100_000 + b'"}\n'
    other = b'{"result":"' + b"x" * 100_000 + b'","id":8}\n'
    just_over = b'{"id":9,"result":"' + b"x" * (1 << 14) + b'"}\n'
    for part in (first, b"between\n", other, just_over, b"the end"):
        stream.feed_data(part)
    stream.feed_eof()
    found = [line async for line in _all(stream)]
    assert [f for f in found if isinstance(f, bytes)] == [b"between\n", b"the end"]
    for line, answered in zip(
        (f for f in found if isinstance(f, LongLine)), (7, 8, 9), strict=True
    ):
        (message,) = messages(line)
        assert message.model_dump()["id"] == answered
        assert "64 MiB" in message.model_dump()["error"]["message"]


async def _all(stream: asyncio.StreamReader) -> Any:
    while line := await next_line(stream):
        yield line
