"""Built-ins that run natively for ever, or nearly: every method on receivers of absurd size."""

from __future__ import annotations

from .model import DONE, MEMORY, MIB, STACK, THROWN, TIME, Program, program

_ANY = (DONE, TIME, MEMORY, THROWN, STACK)

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
    **{k: v for k, v in _ARRAY.items() if k in {
        "at", "copyWithin", "entries", "every", "fill", "filter", "find", "findIndex", "findLast",
        "findLastIndex", "forEach", "includes", "indexOf", "join", "keys", "lastIndexOf", "map",
        "reduce", "reduceRight", "reverse", "slice", "some", "toLocaleString", "toReversed",
        "toString", "values"}},
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
    "anchor": "s", "at": "-1", "charAt": "1e9", "charCodeAt": "1e9", "codePointAt": "1e9",
    "concat": "s, s, s", "endsWith": "s", "includes": "s + 'b'", "indexOf": "s + 'b'",
    "isWellFormed": "", "lastIndexOf": "'b' + s", "link": "s", "localeCompare": "s + 'b'",
    "match": "/(a+)+b/", "matchAll": "/(a+)+b/g", "normalize": "'NFKD'", "padEnd": "2**29, s",
    "padStart": "2**29, s", "repeat": "1000", "replace": "/(a*)*b/, ''", "replaceAll": "'', s",
    "search": "/(a|aa)+$b/", "slice": "0", "split": "''", "startsWith": "s", "substring": "0",
    "toLocaleLowerCase": "", "toLocaleUpperCase": "", "toLowerCase": "", "toString": "",
    "toUpperCase": "", "toWellFormed": "", "trim": "", "trimEnd": "", "trimStart": "",
    "valueOf": "",
}
_STRING_RECEIVERS = {
    "long": "'a'.repeat(1 << 20)",
    "rope": "(() => { let s = 'aé'; for (let i = 0; i < 19; i++) s += s; return s; })()",
    "object": "({toString: () => 'a'.repeat(1 << 20)})",
}
# Functions that read an array-like, an iterable or a length that somebody else states.
_READERS = {
    "Array.from": "Array.from(like)",
    "Array.from mapped": "Array.from(like, x => x)",
    "Array.fromAsync": "await Array.fromAsync(like)",
    "Reflect.apply": "Reflect.apply(Math.max, null, like)",
    "Reflect.construct": "Reflect.construct(Array, like)",
    "Function.apply": "Math.max.apply(null, like)",
    "String.raw": "String.raw({raw: like})",
    "Uint8Array of": "new Uint8Array(like)",
    "Uint8Array.from": "Uint8Array.from(like)",
    "JSON.stringify replacer": "JSON.stringify({}, new Proxy([], {get: (t, k) => k === 'length' ? 2**53 - 1 : '' + String(k)}))",
    "JSON.stringify array": "JSON.stringify(new Proxy([], {get: (t, k) => k === 'length' ? 2**53 - 1 : 1}))",
    "CreateListFromArrayLike own keys": "Object.keys(new Proxy({}, {ownKeys: () => like}))",
    "TypedArray set": "new Uint8Array(8).set(like)",
    "structuredClone": "structuredClone(new Proxy([], {get: (t, k) => k === 'length' ? 2**32 - 1 : 1}))",
    "text": "text(new Proxy([], {get: (t, k) => k === 'length' ? 2**53 - 1 : 1}))",
    "json": "json(new Proxy([], {get: (t, k) => k === 'length' ? 2**53 - 1 : 1}))",
    "console.log": "console.log(new Proxy([], {get: (t, k) => k === 'length' ? 2**53 - 1 : 1}))",
    "TextDecoder": "new TextDecoder().decode(like)",
    "btoa": "btoa('a'.repeat(4 << 20))",
    "Promise.all": "Promise.all(like)",
    "new Map": "new Map(like)",
    "Object.fromEntries": "Object.fromEntries(like)",
    "Object.groupBy": "Object.groupBy(like, x => x)",
    "crypto": "crypto.getRandomValues(new Uint8Array(65536))",
}

PROGRAMS: list[Program] = [
    *(
        program(
            f"Array.prototype.{method} on {receiver}",
            f"const like = {made};\nArray.prototype.{method}.call(like, {arguments});\nreturn 'done';",
            *_ANY,
            value="done",
        )
        for method, arguments in _ARRAY.items()
        for receiver, made in _RECEIVERS.items()
    ),
    *(
        program(
            f"TypedArray.prototype.{method} on {receiver}",
            f"const like = {made};\n"
            f"for (;;) like.{method}({arguments});",
            *_ANY,
            memory=32 * MIB,
        )
        for method, arguments in _TYPED.items()
        for receiver, made in _TYPED_RECEIVERS.items()
    ),
    *(
        program(
            f"String.prototype.{method} on {receiver}",
            f"const s = {made};\n"
            f"for (;;) String.prototype.{method}.call(s, {arguments});",
            *_ANY,
        )
        for method, arguments in _STRING.items()
        for receiver, made in _STRING_RECEIVERS.items()
    ),
    *(
        program(
            f"{name} reads an array-like without end",
            f"const like = {{length: 2**53 - 1}};\n{code};\nreturn 'done';",
            *_ANY,
            value="done",
        )
        for name, code in _READERS.items()
    ),
]
