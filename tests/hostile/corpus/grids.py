"""Built-ins that run natively for ever, or nearly: every method on receivers of absurd size."""

from __future__ import annotations

from typing import Any

from .model import DONE, MEMORY, MIB, OUTPUT, THROWN, TIME, Program, program

# What ends by itself has so much time that a busy machine does not make it a timeout.
_AMPLE_MS = 10_000

# Arguments that make a method visit as much as it can.
_ARRAY = {
    "at": "-1",
    "concat": "[1], like",
    "copyWithin": "0, 1",
    "entries": "",
    "every": "() => true",
    "fill": "1",
    "filter": "() => false",
    "find": "() => false",
    "findIndex": "() => false",
    "findLast": "() => false",
    "findLastIndex": "() => false",
    "flat": "Infinity",
    "flatMap": "() => []",
    "forEach": "() => {}",
    "includes": "NaN",
    "indexOf": "NaN",
    "join": "''",
    "keys": "",
    "lastIndexOf": "NaN",
    "map": "x => x",
    "pop": "",
    "push": "1",
    "reduce": "(a, b) => a, 0",
    "reduceRight": "(a, b) => a, 0",
    "reverse": "",
    "shift": "",
    "slice": "0",
    "some": "() => false",
    "sort": "",
    "splice": "0, 1",
    "toLocaleString": "",
    "toReversed": "",
    "toSorted": "",
    "toSpliced": "0, 1",
    "toString": "",
    "unshift": "1",
    "values": "",
    "with": "0, 1",
}
_RECEIVERS = {
    "arraylike": "{length: 2**53 - 1, [Symbol.isConcatSpreadable]: true}",
    "proxy": "new Proxy({length: 2**53 - 1}, {})",
    "sparse": "(() => { const a = []; a.length = 2**32 - 1; return a; })()",
    "getter": "{get length() { return 2**53 - 1; }, get 0() { return this.length; }}",
}
_TYPED = {
    **{
        k: v
        for k, v in _ARRAY.items()
        if k
        in {
            "at",
            "copyWithin",
            "entries",
            "every",
            "fill",
            "filter",
            "find",
            "findIndex",
            "findLast",
            "findLastIndex",
            "forEach",
            "includes",
            "indexOf",
            "join",
            "keys",
            "lastIndexOf",
            "map",
            "reduce",
            "reduceRight",
            "reverse",
            "slice",
            "some",
            "toLocaleString",
            "toReversed",
            "toString",
            "values",
        }
    },
    "set": "like",
    "sort": "(a, b) => 0",
    "subarray": "0",
    "toSorted": "(a, b) => 0",
    "with": "0, like[0]",
}
_TYPED_RECEIVERS = {
    "bytes": "new Uint8Array(8 << 20)",
    "bigints": "new BigInt64Array(1 << 20)",
    "resizable": "new Float64Array(new ArrayBuffer(8 << 20, {maxByteLength: 9 << 20}))",
}
_STRING = {
    "anchor": "s",
    "at": "-1",
    "charAt": "1e9",
    "charCodeAt": "1e9",
    "codePointAt": "1e9",
    "concat": "s, s, s",
    "endsWith": "s",
    "includes": "s + 'b'",
    "indexOf": "s + 'b'",
    "isWellFormed": "",
    "lastIndexOf": "'b' + s",
    "link": "s",
    "localeCompare": "s + 'b'",
    "match": "/(a+)+b/",
    "matchAll": "/(a+)+b/g",
    "normalize": "'NFKD'",
    "padEnd": "2**29, s",
    "padStart": "2**29, s",
    "repeat": "1000",
    "replace": "/(a*)*b/, ''",
    "replaceAll": "'', s",
    "search": "/(a|aa)+$b/",
    "slice": "0",
    "split": "''",
    "startsWith": "s",
    "substring": "0",
    "toLocaleLowerCase": "",
    "toLocaleUpperCase": "",
    "toLowerCase": "",
    "toString": "",
    "toUpperCase": "",
    "toWellFormed": "",
    "trim": "",
    "trimEnd": "",
    "trimStart": "",
    "valueOf": "",
}
_STRING_RECEIVERS = {
    "long": "'a'.repeat(1 << 20)",
    "rope": "(() => { let s = 'aé'; for (let i = 0; i < 19; i++) s += s; return s; })()",
    "object": "({toString: () => 'a'.repeat(1 << 20)})",
}
# Functions that read an array-like, an iterable or a length that somebody else states.
# Functions that read an array-like, an iterable or a length that somebody else states.
_PROXY = "new Proxy([], {get: (t, k) => k === 'length' ? 2**53 - 1 : 1})"
_READERS = {
    "Array.from": ("Array.from(like)", THROWN),
    "Array.from mapped": ("Array.from(like, x => x)", THROWN),
    "Array.fromAsync": ("await Array.fromAsync(like)", THROWN),
    "Reflect.apply": ("Reflect.apply(Math.max, null, like)", THROWN),
    "Reflect.construct": ("Reflect.construct(Array, like)", THROWN),
    "Function.apply": ("Math.max.apply(null, like)", THROWN),
    "String.raw": ("String.raw({raw: like})", TIME),
    "Uint8Array": ("new Uint8Array(like)", THROWN),
    "Uint8Array.from": ("Uint8Array.from(like)", THROWN),
    "JSON.stringify replacer": (
        (
            "JSON.stringify({}, new Proxy([], "
            "{get: (t, k) => k === 'length' ? 2**53 - 1 : '' + String(k)}))"
        ),
        TIME,
    ),
    "JSON.stringify": (f"JSON.stringify({_PROXY})", TIME),
    "ownKeys": ("Object.keys(new Proxy({}, {ownKeys: () => like}))", THROWN),
    "TypedArray set": ("new Uint8Array(8).set(like)", THROWN),
    "new Map": ("new Map(like)", THROWN),
    "Object.fromEntries": ("Object.fromEntries(like)", THROWN),
    "Object.groupBy": ("Object.groupBy(like, x => x)", THROWN),
    "TextDecoder": ("new TextDecoder().decode(like)", THROWN),
    "structuredClone": (f"structuredClone({_PROXY})", THROWN),
    "text": (f"text({_PROXY})", OUTPUT),
    "json": (f"json({_PROXY})", OUTPUT),
    "console.log": (f"console.log({_PROXY})", DONE),
    "Promise.all": ("Promise.all(like)", DONE),
}

# Whatever is not listed runs until its time is over.
_ARRAY_ENDS = {
    **dict.fromkeys(
        [f"{m} {r}" for m in ("at", "entries", "keys", "values") for r in _RECEIVERS]
        + [f"toString {r}" for r in ("arraylike", "proxy", "getter")]
        + [f"pop {r}" for r in ("arraylike", "proxy", "sparse")]
        + ["concat proxy", "concat getter"],
        DONE,
    ),
    **dict.fromkeys(
        [
            f"{m} {r}"
            for m in ("push", "toReversed", "toSorted", "toSpliced", "with")
            for r in _RECEIVERS
        ]
        + [
            f"{m} {r}"
            for m in ("map", "slice", "unshift")
            for r in ("arraylike", "proxy", "getter")
        ]
        + ["fill getter", "pop getter"],
        THROWN,
    ),
}
_TYPED_ENDS = {"fill bigints": THROWN, "sort bytes": MEMORY, "toSorted bytes": MEMORY}
_STRING_ENDS = {
    **{f"{m} {r}": MEMORY for m in ("padEnd", "padStart", "repeat") for r in _STRING_RECEIVERS},
    "toString object": THROWN,
    "valueOf object": THROWN,
}
# What of that may run out of memory first.
_LARGE = {
    "join",
    "toString",
    "toLocaleString",
    "toSorted",
    "sort",
    "map",
    "filter",
    "split",
    "normalize",
    "localeCompare",
    "replaceAll",
    "reverse",
    "concat",
    "flat",
    "splice",
    "fill",
    "match",
    "replace",
    "search",
}


def _cell(name: str, code: str, ends: str | None, large: bool = False, **more: Any) -> Program:
    if ends is not None:
        return program(name, code, ends, timeout_ms=_AMPLE_MS, **more)
    return program(name, code, TIME, *((MEMORY,) if large else ()), **more)


PROGRAMS: list[Program] = [
    *(
        _cell(
            f"Array.prototype.{method} on {receiver}",
            f"const like = {made};\n"
            f"Array.prototype.{method}.call(like, {arguments});\nreturn 'done';",
            _ARRAY_ENDS.get(f"{method} {receiver}"),
            large=method in _LARGE,
            value="done",
        )
        for method, arguments in _ARRAY.items()
        for receiver, made in _RECEIVERS.items()
    ),
    *(
        _cell(
            f"TypedArray.prototype.{method} on {receiver}",
            f"const like = {made};\nfor (;;) like.{method}({arguments});",
            _TYPED_ENDS.get(f"{method} {receiver}"),
            large=method in _LARGE,
            memory=32 * MIB,
        )
        for method, arguments in _TYPED.items()
        for receiver, made in _TYPED_RECEIVERS.items()
    ),
    *(
        _cell(
            f"String.prototype.{method} on {receiver}",
            f"const s = {made};\nfor (;;) String.prototype.{method}.call(s, {arguments});",
            _STRING_ENDS.get(f"{method} {receiver}"),
            large=method in _LARGE,
        )
        for method, arguments in _STRING.items()
        for receiver, made in _STRING_RECEIVERS.items()
    ),
    *(
        _cell(
            f"{name} reads an array-like without end",
            f"const like = {{length: 2**53 - 1}};\n{code};\nreturn 'done';",
            None if ends == TIME else ends,
            value="done",
            large=True,
        )
        for name, (code, ends) in _READERS.items()
    ),
]
