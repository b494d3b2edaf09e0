// @title console never throws
// @req gst.2
// @expect {"status": "completed", "value": "alive", "output": ["{ x: [Getter] } <ref *1> { self: [Circular *1] }", "[Object: cannot be inspected]", "{ toString: [Function: toString] } Symbol(s) -0"]}
// ---
const circular = {};
circular.self = circular;
console.log({ get x() { throw new Error("no"); } }, circular);
const { proxy, revoke } = Proxy.revocable({}, {});
revoke();
console.log(proxy);
console.log({ toString() { throw 1; } }, Symbol("s"), -0);
return "alive";
