"""Values that change, throw or ask for more while they are converted, and what converting leaves."""

# ruff: noqa: E501 -- a program is one line

from __future__ import annotations

from typing import Any

import pytest

from codemode import CodeMode, Completed, Failed, Tool, Waiting

pytestmark = [pytest.mark.hostile, pytest.mark.req("gst.4", "saf.1")]

# Name, program, value.
MOVING: list[tuple[str, str, Any]] = [
    (
        "array_that_shrinks",
        "const a = [{get x() { a.length = 1; return 1 }}, 2, 3]; return a",
        [{"x": 1}, None, None],
    ),
    (
        "array_that_grows",
        "const a = [{get x() { a.push(4); return 1 }}, 2]; return a",
        [{"x": 1}, 2],
    ),
    (
        "array_made_sparse",
        "const a = [{get x() { a[1e6] = 1; delete a[1]; return 1 }}, 2]; return a",
        [{"x": 1}, None],
    ),
    (
        "array_emptied_and_collected",
        "let a = [{get x() { a.length = 0; a = null; for (let i = 0; i < 1e4; i++) [[]]; return 1 }}, [2]]; return a",
        [{"x": 1}, None],
    ),
    ("key_deleted", "const o = {get a() { delete o.b; return 1 }, b: {c: 2}}; return o", {"a": 1}),
    (
        "key_replaced",
        "const o = {get a() { o.b = [3]; return 1 }, b: {c: 2}}; return o",
        {"a": 1, "b": [3]},
    ),
    (
        "parent_cut_off",
        "let o = {child: {get a() { o.child = null; o = null; return 'x'.repeat(3) }, b: 1}}; return o",
        {"child": {"a": "xxx", "b": 1}},
    ),
    (
        "map_cleared",
        "const m = new Map([['a', {get x() { m.clear(); return 1 }}], ['b', {y: 2}]]); return m",
        {"a": {"x": 1}, "b": {"y": 2}},
    ),
    (
        "set_cleared",
        "const s = new Set([{get x() { s.clear(); return 1 }}, {y: 2}]); return s",
        [{"x": 1}, {"y": 2}],
    ),
    (
        "buffer_detached",
        "const t = new Uint8Array([1, 2]); return {get a() { structuredClone(t.buffer, {transfer: [t.buffer]}); return 1 }, t}",
        {"a": 1, "t": []},
    ),
    (
        "buffer_shrunk",
        "const b = new ArrayBuffer(1 << 20, {maxByteLength: 1 << 20}), t = new Uint8Array(b); return {get a() { b.resize(2); return 1 }, t}",
        {"a": 1, "t": [0, 0]},
    ),
    (
        "buffer_out_of_bounds",
        "const b = new ArrayBuffer(64, {maxByteLength: 64}), t = new Uint32Array(b, 32); return {get a() { b.resize(8); return 1 }, t}",
        {"a": 1, "t": []},
    ),
    (
        "view_out_of_bounds",
        "const b = new ArrayBuffer(8, {maxByteLength: 8}), v = new DataView(b, 4, 4); b.resize(2); return [v]",
        [[]],
    ),
    (
        "decoded_out_of_bounds",
        "const b = new ArrayBuffer(8, {maxByteLength: 8}), t = new Uint8Array(b, 4, 4); b.resize(2); return new TextDecoder().decode(t)",
        "",
    ),
    (
        "random_out_of_bounds",
        "const b = new ArrayBuffer(8, {maxByteLength: 8}), t = new Uint8Array(b, 4); b.resize(2); return crypto.getRandomValues(t).length",
        0,
    ),
    (
        "proxy_with_new_keys",
        "let n = 0; return [new Proxy({}, {ownKeys: () => ['a', 'b'], getOwnPropertyDescriptor: () => ({enumerable: true, configurable: true}), get: (_, k) => k + n++})]",
        [{"a": "a0", "b": "b1"}],
    ),
    ("proxy_of_array", "return new Proxy([1, 2], {})", [1, 2]),
    (
        "proxy_revoked_meanwhile",
        "const {proxy, revoke} = Proxy.revocable({b: 1}, {}); try { json({get a() { revoke(); return 1 }, proxy}) } catch (e) { return e.name }",
        "TypeError",
    ),
    (
        "proxy_that_throws",
        "try { json(new Proxy({}, {ownKeys() { throw new RangeError('mine') }})) } catch (e) { return e.name }",
        "RangeError",
    ),
    (
        "proxy_chain",
        "let p = {a: 1}; for (let i = 0; i < 2000; i++) p = new Proxy(p, {}); return p",
        {"a": 1},
    ),
    (
        "error_with_getters",
        "const e = new Error('x'); for (const k of ['name', 'message', 'cause', 'errors', 'stack']) Object.defineProperty(e, k, {get() { throw new TypeError(k) }}); try { json(e) } catch (f) { return f.message }",
        "name",
    ),
    (
        "error_of_itself",
        "const e = new Error('x'); e.cause = e; try { json(e) } catch (f) { return f.message.includes('refers to itself') }",
        True,
    ),
    (
        "symbol_for_a_message",
        "const e = new Error(); e.message = Symbol('m'); try { json(e) } catch (f) { return f.name }",
        "TypeError",
    ),
    (
        "date_with_a_changed_time",
        "const d = new Date(0); return [{get a() { d.setTime(NaN); return 1 }}, d]",
        [{"a": 1}, None],
    ),
    (
        "output_within_output",
        "json({get a() { json({get b() { text('in'); return 1 }}); return 2 }}); return 'x'",
        "x",
    ),
    (
        "call_within_a_call",
        "return await tools.echo({get a() { tools.echo({x: 1}); tools.echo({x: 2}); return 3 }})",
        {"a": 3},
    ),
    (
        "yield_within_a_call",
        "return await tools.echo({get a() { yield_control(); return 3 }})",
        {"a": 3},
    ),
    (
        "timer_within_a_call",
        "return await tools.echo({get a() { setTimeout(() => 0, 0); return 3 }})",
        {"a": 3},
    ),
    (
        "eval_within_a_call",
        "return await tools.echo({get a() { return eval('[1, 2].map(x => x * 2)') }})",
        {"a": [2, 4]},
    ),
    (
        "own_stack_within_a_call",
        "class E extends Error { get name() { return String(super.stack).length > 0 ? 'E' : '' } } return await tools.echo({e: new E('m')})",
        {"e": {"name": "E", "message": "m"}},
    ),
    (
        "nested_to_the_stack_limit",
        "const f = n => { json({get a() { f(n + 1); return 1 }}) }; try { f(0) } catch (e) { return e.name }",
        "RangeError",
    ),
    (
        "deep_in_deep",
        "const deep = () => { let o = {get a() { if (left-- > 0) try { json(deep()) } catch {} ; return 1 }}; for (let i = 0; i < 500; i++) o = {o}; return o }; let left = 30; try { json(deep()) } catch (e) { return e.name } return 'ok'",
        "ok",
    ),
    (
        "symbols_and_index_keys_of_tools",
        "return [tools[0], tools[Symbol.iterator], tools[-1], tools['4294967295'], Object.getOwnPropertyDescriptor(tools, Symbol('x'))].map(String)",
        ["undefined"] * 5,
    ),
    (
        "tools_under_reflection",
        "const got = []; for (const f of [() => Object.assign(tools, {a: 1}), () => Reflect.set(tools, 'echo', 1), () => Object.defineProperty(tools, 'echo', {value: 1}), () => delete tools.echo, () => Object.setPrototypeOf(tools, {}), () => Object.freeze(tools) === tools, () => Object.create(tools).echo === tools.echo, () => new Proxy(tools, {}).echo === tools.echo, () => Reflect.ownKeys(tools).includes('echo')]) try { got.push(f() === true) } catch (e) { got.push(e.name) } return got",
        ["TypeError", False, "TypeError", False, "TypeError", True, True, True, True],
    ),
]

# Each is done many times with little memory: what it keeps each time would use it up.
REPEATED = [
    "text('x'.repeat(40) + i)", "text({a: [i]})", "json([i, 'x' + i])", "json(new Map([['a' + i, i]]))", "json(new Map([[i, i]]))",
    "json(new Set([i]))", "json(new Uint8Array(9))", "json(new DataView(new ArrayBuffer(9)))", "json(new Date(i))", "json(new Error('e' + i, {cause: i}))",
    "json(/x/g)", "json(new String('s' + i))", "json(Object(10n))", "json(new URL('http://h/' + i))", "json(10n ** 30n + BigInt(i))", "json(Symbol('s' + i))",
    "json(() => i)", "json(class {})", "json(Promise.resolve(i))", "json(new Proxy({a: i}, {}))", "json({get a() { throw i }})", "json(new Proxy({}, {ownKeys() { throw i }}))",
    "const o = {i}; o.o = o; json(o)", "tools.call('x' + i, {get a() { throw i }})", "tools.call({}, {})", "tools['none' + i]", "tools.echo", "Object.keys(tools)",
    "Object.getOwnPropertyDescriptor(tools, 'echo')", "tools[Symbol.toStringTag]", "'echo' in tools", "try { tools.echo = 1 } catch {}", "clearTimeout(setTimeout(() => i, 1e6))",
    "new TextDecoder().decode(new TextEncoder().encode('é' + i))", "new TextDecoder('utf-8', {fatal: true}).decode(new Uint8Array([255]))", "crypto.randomUUID()",
    "crypto.getRandomValues(new Uint8Array(9))", "String(new Error('e' + i).stack)", "structuredClone({a: [i], m: new Map([[i, {i}]])})", "performance.now()", "console.log(i, {a: [i]})",
    "atob(btoa('x' + i))", "Promise.reject(i).catch(() => 0)",
]  # fmt: skip


async def _echo(given: Any, _context: Any) -> Any:
    return given


@pytest.mark.parametrize(("code", "value"), [pytest.param(c, v, id=n) for n, c, v in MOVING])
async def test_a_value_that_moves_is_converted_or_refused(
    code: str, value: Any, make_run: Any
) -> None:
    run = make_run([Tool(name="echo", execute=_echo)], config={"timeoutMs": 20_000})
    result = await run.exec({"code": code})
    while isinstance(result, Waiting):
        result = await run.wait({"runId": result.run_id})
    assert isinstance(result, Completed), result
    assert result.value == value


@pytest.mark.parametrize("step", REPEATED)
async def test_converting_keeps_nothing(step: str) -> None:
    config = {"memoryLimitBytes": 1 << 20, "outputOverflow": "truncate", "maxOutputBytes": 1024}
    code = (
        f"for (let i = 0; i < 8_000; i++) {{ try {{ {step} }} catch {{}} "
        "if (i % 100 === 0) await null } return 'done'"
    )
    async with CodeMode(True) as cm:
        run = cm.run([Tool(name="echo", execute=_echo)], config={**config, "timeoutMs": 20_000})
        result = await run.exec({"code": code})
    assert not isinstance(result, Failed), result
    assert result.value == "done"
