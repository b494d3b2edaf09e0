from __future__ import annotations

from typing import Any

import pytest

from codemode import CodeMode, Tool

# Replaces every function that can be reached from the global object, prototypes included.
POISON = """
const seen = new Set(), poisoned = [];
const names = Reflect.ownKeys, describe = Reflect.getOwnPropertyDescriptor;
const define = Reflect.defineProperty, up = Reflect.getPrototypeOf;
const keep = new Set([tools, text, json, yield_control, API, console]);
const poison = (object) => {
  if ((typeof object !== 'object' && typeof object !== 'function') || object === null) return;
  if (seen.has(object) || keep.has(object)) return;
  seen.add(object);
  poisoned.push(object);
  const all = names(object);
  for (let i = 0; i < all.length; i++) {
    const d = describe(object, all[i]);
    if (d && 'value' in d) poison(d.value);
  }
  poison(up(object));
};
poison(globalThis);
poison(up(async () => {})); poison(up(function* () {})); poison(up([][Symbol.iterator]()));
poison(up(new Map().entries())); poison(up(/x/[Symbol.matchAll]('x')));
const evil = () => { throw new Error('poisoned'); };
let count = 0;
for (let i = 0; i < poisoned.length; i++) {
  const all = names(poisoned[i]);
  for (let j = 0; j < all.length; j++) {
    const d = describe(poisoned[i], all[j]);
    if (d && d.configurable && typeof d.value === 'function' && all[j] !== 'then') {
      if (define(poisoned[i], all[j], { value: evil, writable: true, configurable: true })) count++;
    }
  }
}
"""


async def _echo(arguments: dict[str, Any], _context: Any) -> Any:
    return arguments


async def _fail(_arguments: dict[str, Any], _context: Any) -> Any:
    raise ValueError("no")


TOOLS = [
    Tool(name="echo", execute=_echo, description="Gives back."),
    Tool(name="fail", execute=_fail),
]


@pytest.mark.hostile
@pytest.mark.req("gst.1", "saf.1")
async def test_a_guest_that_replaces_every_builtin_still_gets_right_answers() -> None:
    program = (
        POISON
        + """
    const one = await tools.echo({ a: [1, { b: 'x' }], n: 10n });
    let caught = null;
    try { await tools.callValue('fail', {}); } catch (e) { caught = e.message; }
    const found = await tools.search('echo');
    text('said'); json({ j: [1] }); console.log('logged', { a: 1 });
    await yield_control('half');
    const two = await tools.call('echo', { again: true });
    const size = ALL_TOOLS.length;
    return { one, caught, id: found[0].id, two: two.result, size, many: count > 500 };
    """
    )
    async with CodeMode(True) as cm:
        run = cm.run(TOOLS)
        first = await run.exec({"code": program})
        assert first.status == "waiting", first.to_dict()
        result = await run.wait({"runId": first.run_id})
        assert result.status == "completed", result.to_dict()
        value = result.value
        assert value["one"] == {"a": [1, {"b": "x"}], "n": 10}
        assert (value["caught"], value["id"]) == ("no", "openclaw:core:echo")
        assert (value["size"], value["many"]) == (2, True)
        assert [item["type"] for item in first.output] == ["text", "json", "text"]
        assert first.output[2]["text"].startswith("logged")
        assert first.output[2]["text"].endswith("{ a: 1 }")
        clean = await run.exec({"code": "return [1, 2].map((n) => n + 1)"})
        assert clean.value == [2, 3]


@pytest.mark.hostile
@pytest.mark.req("gst.1", "saf.1")
async def test_a_guest_reaches_no_function_of_the_prelude_and_cannot_settle_its_own_calls() -> None:
    program = """
    const apply = Reflect.apply, toText = Function.prototype.toString;
    const spied = [];
    const watch = (object, key) => {
      const was = object[key];
      object[key] = function (...args) {
        for (const a of [this, ...args]) {
          if (typeof a === 'function') spied[spied.length] = apply(toText, a, []);
        }
        return apply(was, this, args);
      };
    };
    for (const key of ['call', 'apply', 'bind']) watch(Function.prototype, key);
    watch(Promise.prototype, 'then'); watch(Promise, 'resolve');
    for (const key of ['apply', 'defineProperty', 'ownKeys']) watch(Reflect, key);
    for (const key of ['freeze', 'defineProperty', 'create']) watch(Object, key);
    const p = tools.echo({ real: true });
    const own = Reflect.ownKeys(p).length;
    await tools.search('x'); text('t'); console.log('c'); API.list(); ALL_TOOLS;
    const host = spied.filter((s) => s.includes('host.') || s.includes('uncurry'));
    return { host, own, value: await p, resolvable: typeof p.resolve };
    """
    async with CodeMode(True) as cm:
        result = await cm.run(TOOLS).exec({"code": program})
    assert result.status == "completed", result.to_dict()
    assert result.value == {
        "host": [],
        "own": 0,
        "value": {"real": True},
        "resolvable": "undefined",
    }


@pytest.mark.hostile
@pytest.mark.req("gst.5", "saf.1")
async def test_getters_that_every_object_inherits_do_not_hide_a_tools_error(make_run: Any) -> None:
    code = """
    for (const name of ['name', 'runId', 'status', 'errors', 'cause']) {
      Object.defineProperty(Object.prototype, name, {
        get() { throw new Error('mine'); }, set() { throw new Error('mine'); },
      });
    }
    const seen = [];
    for (const call of [() => tools.fail({}), () => tools.nobody]) {
      try { seen.push(await call()); } catch (e) { seen.push(e.message); }
    }
    seen.push((await tools.echo({ x: 1 })).x);
    return seen;
    """
    result = await make_run(TOOLS).exec({"code": code})
    assert result.status == "completed", result
    assert result.value == ["no", None, 1]
    assert result.warnings == ()
