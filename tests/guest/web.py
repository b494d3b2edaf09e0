"""Families of generated programs that use the globals beside the language: URL, locales, bytes."""

# ruff: noqa: E501 -- programs, not Python
from __future__ import annotations

from typing import TYPE_CHECKING

from tests.guest.random_js import WORDS, js, number, word

if TYPE_CHECKING:
    from random import Random

URL_BITS = (
    "/", "//", "\\", "../", ".", "%2e", "a", "b c", "?", "#", "@", ":", "x=1", "&", "=", "+",
    "%20", "%zz", "%", "<", ">", '"', "'", "`", "{", "}", "|", " ", "\t", "\n", "~", "!", "$", ";",
    ",", "*", "(", ")", "-", "_", "C:/", "c|/",
)  # fmt: skip
HOSTS = (
    "example.com", "EXAMPLE.com:80", "us:p@hh.test:8080", "[::1]:80", "[1::2:3]", "1.2.3.4", "127.1",
    "0x7f.1", "256.1.1.1", "hh.", "", "a b", "localhost", "hh:99999", "u@", "[::1.2.3.4]", "xn--bcher-kva.ch",
)  # fmt: skip
SCHEMES = (
    "http:",
    "https:",
    "ftp:",
    "file:",
    "ws:",
    "data:",
    "mailto:",
    "foo:",
    "HTTP:",
    "a+b:",
    "",
)


def _url(r: Random, schemes: tuple[str, ...] = SCHEMES) -> str:
    tail = "".join(r.choices(URL_BITS, k=r.randint(0, 7)))
    authority = r.choice(("//", "//", "/", "")) + r.choice(HOSTS) + r.choice(("/", "", "?", "#"))
    # Outside of ASCII only behind the host: other host names are refused here, not converted.
    return r.choice(schemes) + authority + tail + r.choice(("", "?é=😀", "#ü"))


# Not here: what node 20 gets wrong (relative to an opaque base; `x:` as the start of a file's path).
def urls(r: Random) -> str:
    setters = {
        "pathname": "".join(r.choices(URL_BITS, k=3)), "search": "".join(r.choices(URL_BITS, k=3)),
        "hash": "".join(r.choices(URL_BITS, k=3)), "port": r.choice(("81", "80", "", "443")),
        "hostname": "other.test", "protocol": r.choice(("https", "ws:", "foo")), "username": "ü:@",
    }  # fmt: skip
    inputs = js([[_url(r), r.choice([None, _url(r, SCHEMES[:5])])] for _ in range(12)])
    return f"""
const keys = ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"];
const out = [];
for (const [input, base] of {inputs}) {{
  let u;
  try {{ u = base === null ? new URL(input) : new URL(input, base); }} catch (e) {{
    out.push(e.name, URL.canParse(input, base ?? undefined));
    continue;
  }}
  out.push(keys.map((k) => u[k]));
  if (u.host === "") continue;
  for (const [k, v] of Object.entries({js(setters)})) {{ u[k] = v; out.push(u.href); }}
  u.searchParams.append("k é", "v&" + u.searchParams.size);
  u.searchParams.sort();
  out.push(JSON.stringify(u), [...u.searchParams].length, u.searchParams.toString(), u.searchParams.has("k é"));
}}
const p = new URLSearchParams({{ a: "1 +&=", "é": {word(r)} }});
p.append("a", "2"); p.set("b", {word(r)}); p.delete("a", "2");
return [out, String(p), p.getAll("a"), [...p.keys()], Object.fromEntries(p), new URLSearchParams([["x", "y"]]).get("x")];
"""


def locales(r: Random) -> str:
    numbers = ", ".join(
        f"({number(r)}).toLocaleString({r.choice(['', 'undefined', chr(39) + 'en-US' + chr(39)])})"
        for _ in range(5)
    )
    low = r.randint(0, 3)
    style = r.choice([{}, {"style": "percent"}, {"style": "currency", "currency": "EUR"}])
    options = {
        "minimumFractionDigits": low,
        "maximumFractionDigits": low + r.randint(0, 3),
        **style,
    }
    date = {
        "month": r.choice(["long", "short", "2-digit", "numeric"]), "day": "numeric", "year": "numeric",
        **r.choice([{}, {"weekday": "short"}, {"hour": "numeric", "minute": "2-digit"}]),
    }  # fmt: skip
    words = [
        *WORDS,
        "apple",
        "Äpfel",
        "Banana",
        "file10",
        "file9",
        "resume",
        "résumé",
        "co-op",
        "Zoë",
    ]
    picked = js(r.sample(words, 12))
    compare = js(r.choice([{}, {"numeric": True}, {"sensitivity": "base"}]))
    return f"""
const d = new Date({r.randint(-(10**12), 4 * 10**12)}), w = {picked};
return [{numbers}, ({number(r)}).toLocaleString("en-US", {js(options)}), ({r.randint(0, 10**30)}n).toLocaleString(),
  d.toLocaleString("en-US", {js(date)}).replace(/\u202f/g, " "), d.toLocaleTimeString(), d.toLocaleDateString(), [1234.5, d].toLocaleString(),
  w.toSorted((a, b) => a.localeCompare(b, undefined, {compare})), w[0].localeCompare(w[1]), w[2].toLocaleUpperCase()];
"""


def encodings(r: Random) -> str:
    data = [
        r.choice([r.randint(0, 127), r.randint(128, 255), 0xC3, 0xE2, 0x82, 0xF0, 0x9F])
        for _ in range(24)
    ]
    cut = r.randint(0, 24)
    return f"""
const bytes = new Uint8Array({data}), text = {word(r)} + "\ud83d\ude00\udc00";
const d = new TextDecoder(), out = [d.decode(bytes.subarray(0, {cut}), {{ stream: true }}), d.decode(bytes.subarray({cut})), new TextDecoder().decode(bytes)];
let fatal; try {{ fatal = new TextDecoder("UTF8", {{ fatal: true }}).decode(bytes); }} catch (e) {{ fatal = e.name; }}
const into = new Uint8Array({r.randint(0, 12)}), done = new TextEncoder().encodeInto(text, into);
const names = []; for (const f of [() => btoa("€"), () => atob("a"), () => structuredClone(() => 1), () => structuredClone(Symbol())]) {{ try {{ f(); }} catch (e) {{ names.push(e.name); }} }}
const clone = structuredClone({{ bytes, b: bytes.buffer, e: new RangeError("r"), s: new Set([1n]), h: [1, , 2], r: /x/gi, nested: new Map([[{{}}, new Date(5)]]) }});
return [out, fatal, [...new TextEncoder().encode(text)], [...into], done, names, btoa(String.fromCharCode(...bytes)), atob(" aGk= "),
  new TextDecoder("utf-16le").decode(bytes), [...clone.bytes].join() === [...bytes].join(), clone.bytes.buffer === clone.b, clone.e instanceof RangeError,
  String(clone.r), 1 in clone.h, [...clone.nested.values()][0].getTime(), clone.s.has(1n)];
"""
