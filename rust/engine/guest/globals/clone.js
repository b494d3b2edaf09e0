// `structuredClone`, by the rules of HTML. Comes after the globals whose objects cannot be cloned.
(function (host, def) {
  "use strict";
  const { uncurry, list, getter, TypedArrayPrototype } = host.base;
  const { kindOf, data, inspect } = host;
  const { getPrototypeOf, hasOwn, defineProperty } = Object;
  const { ownKeys } = Reflect;
  const ObjectOf = Object;
  const StringOf = String;
  const ArrayOf = Array;
  const { isView } = ArrayBuffer;
  const enumerable = uncurry(Object.prototype.propertyIsEnumerable);
  const DomError = DOMException;
  const domName = getter(DOMException.prototype, "name");
  const domMessage = getter(DOMException.prototype, "message");
  const MapOf = Map;
  const mapGet = uncurry(Map.prototype.get);
  const mapSet = uncurry(Map.prototype.set);
  const mapEntries = uncurry(Map.prototype.entries);
  const mapNext = uncurry(getPrototypeOf(new Map().entries()).next);
  const SetOf = Set;
  const setAdd = uncurry(Set.prototype.add);
  const setValues = uncurry(Set.prototype.values);
  const setNext = uncurry(getPrototypeOf(new Set().values()).next);
  const DateOf = Date;
  const dateTime = uncurry(Date.prototype.getTime);
  const RegExpOf = RegExp;
  const regexSource = getter(RegExp.prototype, "source");
  const regexFlags = getter(RegExp.prototype, "flags");
  const Bytes = Uint8Array;
  const BufferOf = ArrayBuffer;
  const bufferLength = getter(ArrayBuffer.prototype, "byteLength");
  const bufferDetached = getter(ArrayBuffer.prototype, "detached");
  const bufferTransfer = uncurry(ArrayBuffer.prototype.transfer);
  const setBytes = uncurry(TypedArrayPrototype.set);
  const typedName = getter(TypedArrayPrototype, Symbol.toStringTag);
  const typedBuffer = getter(TypedArrayPrototype, "buffer");
  const typedOffset = getter(TypedArrayPrototype, "byteOffset");
  const typedLength = getter(TypedArrayPrototype, "length");
  const ViewOf = DataView;
  const viewBuffer = getter(DataView.prototype, "buffer");
  const viewOffset = getter(DataView.prototype, "byteOffset");
  const viewLength = getter(DataView.prototype, "byteLength");

  const typedConstructors = { __proto__: null };
  for (const Constructor of [
    Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array,
    BigInt64Array, BigUint64Array, Float32Array, Float64Array, globalThis.Float16Array,
  ]) {
    if (Constructor !== undefined) typedConstructors[Constructor.name] = Constructor;
  }
  const errorConstructors = {
    __proto__: null, Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError,
  };

  const stackGetter = Object.getOwnPropertyDescriptor(Error.prototype, "stack")?.get;
  const stackOf = stackGetter === undefined ? (e) => data(e, "stack") : uncurry(stackGetter);

  // Objects with state that a copy of their properties would lose.
  const refused = list();
  for (const name of [
    "Promise", "WeakMap", "WeakSet", "WeakRef", "FinalizationRegistry", "Iterator", "TextEncoder",
    "TextDecoder",
  ]) {
    const Constructor = globalThis[name];
    if (Constructor !== undefined) refused[refused.length] = Constructor.prototype;
  }
  refused[refused.length] = getPrototypeOf(getPrototypeOf((async function* () {})()));

  const fail = (what) => {
    throw new DomError(what + " could not be cloned", "DataCloneError");
  };

  const put = (target, key, value) => {
    defineProperty(target, key, {
      __proto__: null, value, writable: true, enumerable: true, configurable: true,
    });
  };

  const copyKeys = (seen, from, to) => {
    const keys = ownKeys(from);
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i];
      if (typeof key === "string" && hasOwn(from, key) && enumerable(from, key)) {
        put(to, key, clone(seen, from[key]));
      }
    }
    return to;
  };

  const remember = (seen, from, to) => {
    mapSet(seen, from, to);
    return to;
  };

  const cloneBuffer = (seen, from) => {
    const known = mapGet(seen, from);
    if (known !== undefined) return known;
    if (bufferDetached(from)) fail("A detached ArrayBuffer");
    const to = new BufferOf(bufferLength(from));
    setBytes(new Bytes(to), new Bytes(from));
    return remember(seen, from, to);
  };

  const cloneError = (seen, from) => {
    let { name } = from;
    name = name === undefined ? "Error" : StringOf(name);
    const Constructor = errorConstructors[name] ?? errorConstructors.Error;
    const to = remember(seen, from, new Constructor());
    const hide = (key, value) => defineProperty(to, key, {
      __proto__: null, value, writable: true, enumerable: false, configurable: true,
    });
    if (hasOwn(from, "message")) hide("message", StringOf(data(from, "message")));
    const stack = stackOf(from);
    if (typeof stack === "string") hide("stack", stack);
    if (hasOwn(from, "cause")) hide("cause", clone(seen, from.cause));
    return to;
  };

  const cloneView = (seen, from) => {
    const name = typedName(from);
    if (name === undefined) {
      const buffer = cloneBuffer(seen, viewBuffer(from));
      return remember(seen, from, new ViewOf(buffer, viewOffset(from), viewLength(from)));
    }
    const buffer = cloneBuffer(seen, typedBuffer(from));
    const to = new typedConstructors[name](buffer, typedOffset(from), typedLength(from));
    return remember(seen, from, to);
  };

  // The items are taken before any of them is cloned: a getter may change the collection.
  const cloneMap = (seen, from) => {
    const to = remember(seen, from, new MapOf());
    const flat = list();
    const it = mapEntries(from);
    for (let r = mapNext(it); !r.done; r = mapNext(it)) {
      flat[flat.length] = r.value[0];
      flat[flat.length] = r.value[1];
    }
    for (let i = 0; i < flat.length; i += 2) {
      mapSet(to, clone(seen, flat[i]), clone(seen, flat[i + 1]));
    }
    return to;
  };
  const cloneSet = (seen, from) => {
    const to = remember(seen, from, new SetOf());
    const flat = list();
    const it = setValues(from);
    for (let r = setNext(it); !r.done; r = setNext(it)) flat[flat.length] = r.value;
    for (let i = 0; i < flat.length; i++) setAdd(to, clone(seen, flat[i]));
    return to;
  };

  const cloneArray = (seen, from) => {
    const to = remember(seen, from, new ArrayOf(from.length));
    return copyKeys(seen, from, to);
  };

  const clone = (seen, value) => {
    if (typeof value === "symbol") fail(inspect(value));
    if (typeof value === "function") fail(inspect(value));
    if (typeof value !== "object" || value === null) return value;
    const known = mapGet(seen, value);
    if (known !== undefined) return known;
    const kind = kindOf(value);
    switch (kind) {
      case "array": return cloneArray(seen, value);
      case "map": return cloneMap(seen, value);
      case "set": return cloneSet(seen, value);
      case "date": return remember(seen, value, new DateOf(dateTime(value)));
      case "regex": return remember(seen, value, new RegExpOf(regexSource(value), regexFlags(value)));
      case "buffer": return cloneBuffer(seen, value);
      case "error": return cloneError(seen, value);
      case "dom": return remember(seen, value, new DomError(domMessage(value), domName(value)));
      default:
    }
    if (typeof kind === "object") fail(kind.render(value));
    if (typeof kind === "function") {
      const inner = kind(value);
      if (typeof inner === "symbol") fail("A Symbol object");
      return remember(seen, value, ObjectOf(inner));
    }
    if (isView(value)) return cloneView(seen, value);
    for (let o = getPrototypeOf(value), i = 0; o !== null && i < 1000; o = getPrototypeOf(o), i++) {
      for (let k = 0; k < refused.length; k++) if (refused[k] === o) fail(inspect(value, 0));
    }
    return copyKeys(seen, value, remember(seen, value, {}));
  };

  const transferList = (options) => {
    const given = options?.transfer;
    const out = list();
    if (given === undefined || given === null) return out;
    for (let i = 0; i < given.length; i++) {
      let detached = true;
      try {
        detached = bufferDetached(given[i]);
      } catch {}
      if (detached) fail("A value in the transfer list");
      for (let k = 0; k < i; k++) if (out[k] === given[i]) fail("A duplicate in the transfer list");
      out[i] = given[i];
    }
    return out;
  };

  def("structuredClone", { structuredClone(value, options = undefined) {
    const transfer = transferList(options);
    const out = clone(new MapOf(), value);
    // Copied like all others; what the caller can see of a transfer is the detached original.
    for (let i = 0; i < transfer.length; i++) bufferTransfer(transfer[i]);
    return out;
  } }.structuredClone);
})
