// First of the globals; the order is base, inspect, console, timers, encoding, urlparse, url,
// crypto, misc, locale, collate, dates, clone. Each file is one expression, called once with
// `(host, def)`: `host` holds native functions and what these files share, and the guest never
// sees it; `def(name, value)` makes a global that is writable and not enumerable.
// Everything is taken from the built-ins here, before guest code can change them.
(function (host, def) {
  "use strict";
  const { bind, call } = Function.prototype;
  const { setPrototypeOf, defineProperty } = Object;

  // `uncurry(f)(self, ...args)` calls `f` without looking up anything that a guest can replace.
  const uncurry = bind.bind(call);

  // ToString. In these files no template literal may be used after the template is made: the
  // engine calls String.prototype.concat for them, and a guest can replace that.
  const StringOf = String;
  const TypeErrorCtor = TypeError;
  const toText = (value) => {
    if (typeof value === "symbol") throw new TypeErrorCtor("a symbol cannot be made a string");
    return StringOf(value);
  };

  // An array without a prototype: setters on Array.prototype or Object.prototype cannot see
  // what is stored in it.
  const list = () => setPrototypeOf([], null);

  const join = (parts, separator) => {
    let out = "";
    for (let i = 0; i < parts.length; i++) out += i === 0 ? parts[i] : separator + parts[i];
    return out;
  };

  const method = (target, name, value) =>
    defineProperty(target, name, {
      __proto__: null, value, writable: true, enumerable: true, configurable: true,
    });

  const getter = (prototype, key) => {
    const { get } = Object.getOwnPropertyDescriptor(prototype, key);
    return uncurry(get);
  };

  host.base = {
    __proto__: null,
    uncurry, toText, list, join, method, getter,
    TypedArrayPrototype: Object.getPrototypeOf(Uint8Array.prototype),
  };
})
