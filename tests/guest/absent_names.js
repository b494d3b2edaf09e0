// @title what is not there is undefined
// @req gst.2 saf.1
// @expect {"status": "completed", "value": "all absent"}
// ---
const names = ["process", "module", "__dirname", "Deno", "Bun", "std", "os", "scriptArgs", "fetch", "XMLHttpRequest", "WebSocket", "SharedArrayBuffer", "Atomics", "Intl", "require", "WebAssembly", "print"];
const there = names.filter((n) => typeof globalThis[n] !== "undefined");
return there.length === 0 ? "all absent" : there;
