"""No function of the prelude or of the host comes into a program's hands through call sites."""

# ruff: noqa: E501 -- a program has lines of any length

from __future__ import annotations

from typing import Any

import pytest

from codemode import Completed, Waiting

pytestmark = [pytest.mark.hostile, pytest.mark.req("saf.1", "gst.1")]

# Everything that runs guest code from within native code or the prelude.
PROGRAM = r"""
const found = new Set(), names = new Set(), members = new Set();
Error.prepareStackTrace = (e, frames) => {
  for (const f of frames) {
    names.add(f.getFunctionName());
    for (let o = f; o !== null && o !== Object.prototype; o = Object.getPrototypeOf(o)) {
      for (const key of Reflect.ownKeys(o)) {
        members.add(String(key));
        let got;
        try { got = typeof f[key] === 'function' ? f[key]() : f[key]; } catch {}
        if (typeof got === 'function' || (typeof got === 'object' && got !== null)) found.add(String(key));
      }
    }
  }
  return 'stack';
};
const spy = () => new Error('spy').stack;
const bait = { get a() { spy(); return 1; }, toJSON() { spy(); return 2; }, toString() { spy(); return 's'; } };
class E extends Error { get name() { spy(); return 'N'; } get message() { spy(); return 'M'; } }
const lures = [
  () => text(bait), () => json(bait), () => console.log(bait, '%s', bait), () => tools.nothing(bait), () => tools.search('x', bait),
  () => String(new E().stack), () => structuredClone(bait), () => new URL(bait), () => atob(bait), () => new TextDecoder(bait),
  () => API.read(bait), () => new Date().toLocaleDateString(bait, bait), () => setTimeout(spy, bait), () => crypto.getRandomValues(bait),
  () => yield_control(bait), () => [3, 1].toSorted(() => spy()), () => JSON.stringify(bait),
];
for (const lure of lures) try { lure()?.catch?.(() => 0); } catch {}
await tools.nothing();
spy();
return [[...found], [...names].filter(n => ['call', 'text', 'json', 'clone'].includes(n)).sort(), [...members].sort()];
"""


async def test_call_sites_give_no_function_away(make_run: Any) -> None:
    run = make_run(config={"timeoutMs": 20_000})
    result = await run.exec({"code": PROGRAM})
    while isinstance(result, Waiting):
        result = await run.wait({"runId": result.run_id})
    assert isinstance(result, Completed), result
    found, names, members = result.value
    assert found == []
    # The look itself: frames of such functions were seen.
    assert names == ["call", "clone", "json", "text"]
    assert "getLineNumber" in members
    assert "getFunction" not in members
