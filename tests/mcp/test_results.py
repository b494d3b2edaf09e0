"""Results of MCP servers as plain data."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemode.blocks import binary_size
from codemode.mcp.results import (
    NO_MESSAGE,
    call_result,
    listing,
    prompt_result,
    read_result,
)

pytestmark = pytest.mark.req("mcp.2")

PICTURE = base64.b64encode(b"x" * 1000).decode()


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def test_json_in_a_text_block_is_not_guessed() -> None:
    raw = {"content": [text('{"items":[1]}')]}
    assert call_result(raw) == raw


def test_an_error_stays_a_value_with_exactly_the_documented_keys() -> None:
    out = call_result({"isError": True, "content": [text("quota")], "_meta": {"a": 1}, "x": 2})
    assert out == {"isError": True, "content": [text("quota")]}


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"content": []}, {"content": []}),
        ({"isError": True, "content": []}, {"isError": True, "content": [text(NO_MESSAGE)]}),
        ({"structuredContent": {"a": 1}}, {"content": [], "structuredContent": {"a": 1}}),
        ({}, {"content": []}),
        (None, {"content": []}),
        ([1], {"content": []}),
        ({"content": None, "isError": False}, {"content": []}),
        ({"content": "plain"}, {"content": [text("plain")]}),
        ({"content": text("one")}, {"content": [text("one")]}),
        ({"content": [1, None, text("kept")]}, {"content": [text("kept")]}),
        ({"structuredContent": [1, 2]}, {"content": [], "structuredContent": [1, 2]}),
        ({"content": [], "structuredContent": None}, {"content": []}),
        ({"toolResult": 7, "_meta": {}}, {"content": [], "structuredContent": {"toolResult": 7}}),
    ],
)
def test_odd_shapes_keep_the_shape(raw: object, expected: object) -> None:
    assert call_result(raw) == expected


def test_all_items_stay_in_order_and_binary_becomes_a_marker() -> None:
    out = call_result(
        {
            "content": [
                text("before"),
                {"type": "image", "data": PICTURE, "mimeType": "image/png", "_meta": {"s": 1}},
                text("between"),
                {"type": "audio", "data": PICTURE, "mimeType": "audio/wav"},
                {
                    "type": "resource",
                    "resource": {"uri": "a://b", "blob": PICTURE, "mimeType": "x/y"},
                },
                {"type": "resource", "resource": {"uri": "a://c", "text": "t", "_meta": {}}},
                {"type": "resource_link", "uri": "a://d", "name": "d", "annotations": {"p": 1}},
                {"type": "hologram", "data": PICTURE},
            ]
        }
    )
    assert out["content"] == [
        text("before"),
        {"type": "image", "mimeType": "image/png", "bytes": 1000, "omitted": True},
        text("between"),
        {"type": "audio", "mimeType": "audio/wav", "bytes": 1000, "omitted": True},
        {
            "type": "resource",
            "resource": {"uri": "a://b"},
            "mimeType": "x/y",
            "bytes": 1000,
            "omitted": True,
        },
        {"type": "resource", "resource": {"uri": "a://c", "text": "t"}},
        {"type": "resource_link", "uri": "a://d", "name": "d"},
        {
            "type": "hologram",
            "mimeType": "application/octet-stream",
            "bytes": 1000,
            "omitted": True,
        },
    ]
    assert PICTURE not in json.dumps(out)


def test_the_tools_own_value_is_left_alone() -> None:
    value = {"_meta": {"mine": True}, "annotations": [1], "data": "abc"}
    assert call_result({"content": [], "structuredContent": value})["structuredContent"] == value


def test_resources_and_prompts_lose_only_binary_and_metadata() -> None:
    raw = {
        "contents": [
            {"uri": "a://1", "text": "t", "mimeType": "text/plain", "_meta": {}},
            {"uri": "a://2", "blob": PICTURE},
        ]
    }
    assert read_result(raw) == {
        "contents": [
            {"uri": "a://1", "text": "t", "mimeType": "text/plain"},
            {
                "uri": "a://2",
                "mimeType": "application/octet-stream",
                "bytes": 1000,
                "omitted": True,
            },
        ]
    }
    image = {"type": "image", "data": PICTURE, "mimeType": "image/png"}
    assert prompt_result(
        {
            "description": "d",
            "messages": [
                {"role": "user", "content": image},
                {"role": "user", "content": text("x")},
            ],
        }
    ) == {
        "description": "d",
        "messages": [
            {
                "role": "user",
                "content": {
                    "type": "image",
                    "mimeType": "image/png",
                    "bytes": 1000,
                    "omitted": True,
                },
            },
            {"role": "user", "content": text("x")},
        ],
    }
    assert listing([{"uri": "u", "name": "n", "annotations": {}}, 3]) == [{"uri": "u", "name": "n"}]


@given(st.binary(max_size=64))
def test_the_size_of_base64_is_told_without_decoding(data: bytes) -> None:
    assert binary_size(base64.b64encode(data).decode()) == len(data)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "text",
                    "data",
                    "blob",
                    "resource",
                    "content",
                    "isError",
                    "mimeType",
                    "uri",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_nothing_that_a_server_can_send_breaks_it(raw: object) -> None:
    out = call_result(raw)
    assert set(out) <= {"content", "structuredContent", "isError"}
    assert all(isinstance(item, dict) for item in out["content"])
    if "isError" in out:
        assert any(i.get("text") for i in out["content"] if i.get("type") == "text")
    read_result(raw)
    prompt_result(raw)
    listing(raw)
