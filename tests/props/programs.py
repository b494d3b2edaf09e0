"""Random async programs: a small grammar over what suspends and what is kept while suspended."""

from __future__ import annotations

from hypothesis import strategies as st

# Expressions that give a number without waiting.
_NUMBERS = st.one_of(
    st.integers(-50, 50).map(str),
    st.sampled_from(["acc.length", "box.get()", "m.get('k')", "re.lastIndex", "Number(big % 7n)"]),
)
_DELAY = st.sampled_from([0, 1, 2])
# A call is observed only through its own value, so that the order of two calls that end in the
# same instant does not matter.
_AWAITED = st.one_of(
    st.tuples(_NUMBERS, _DELAY).map(lambda p: f"await tools.echo({{ value: {p[0]}, ms: {p[1]} }})"),
    st.tuples(_NUMBERS, _NUMBERS).map(
        lambda p: f"(await Promise.all([tools.echo({{ value: {p[0]} }}), {p[1]}])).join('+')"
    ),
    st.just("await yield_control('step')"),
    st.just("await new Promise((done) => setTimeout(done, 1, 'late'))"),
    _NUMBERS.map(lambda n: f"await (async () => {n})()"),
    _NUMBERS.map(
        lambda n: (
            f"await tools.fail({{ text: 'no ' + ({n}) }}).catch((e) => e.name + ':' + e.message)"
        )
    ),
    _NUMBERS.map(
        lambda n: (
            f"(await Promise.allSettled([tools.fail({{ text: 'x' }}), {n}])).map((r) => r.status)"
        )
    ),
)
_STATEMENT = st.one_of(
    _AWAITED.map(lambda e: f"acc.push({e});"),
    _NUMBERS.map(lambda n: f"box.add({n});"),
    st.just("acc.push(it.next().value);"),
    st.just("re.exec('aaaa');"),
    st.just("big = big * big + 1n;"),
    _NUMBERS.map(lambda n: f"m.set('k', {n}); weak.set(m, acc.length);"),
    st.just("acc.push(weak.get(m) ?? null);"),
    _NUMBERS.map(lambda n: f"text('n', {n}); json({{ at: {n} }});"),
    st.lists(_AWAITED, min_size=1, max_size=2).map(
        lambda es: "for (let i = 0; i < 2; i++) { " + " ".join(f"acc.push({e});" for e in es) + " }"
    ),
    _AWAITED.map(lambda e: f"try {{ acc.push({e}); null.x; }} catch (e) {{ acc.push(e.name); }}"),
    st.just("acc.push(typeof tools.echo, tools.echo === echo);"),
)
_END = st.sampled_from(
    [
        "return { acc, box: box.get(), big, last: re.lastIndex };",
        "throw new RangeError('end ' + acc.length);",
    ]
)

_HEAD = """\
const acc = [];
class Box { #n = 1; add(n) { this.#n += n; } get() { return this.#n; } }
const box = new Box(), m = new Map([["k", 3]]), weak = new WeakMap(), re = /a/g, echo = tools.echo;
let big = 3n;
function* numbers() { for (let n = 10; ; n++) yield n; }
const it = numbers();
"""


def programs() -> st.SearchStrategy[str]:
    """Whole programs."""
    body = st.lists(_STATEMENT, min_size=1, max_size=7).map("\n".join)
    return st.tuples(body, _END).map(lambda p: f"{_HEAD}{p[0]}\n{p[1]}")
