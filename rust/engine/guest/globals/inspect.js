// `host.inspect(value, {depth, compact})`: a value as node's console would show it, without
// running guest code: getters are named and not called. It never throws, and it is bounded in
// size. Traps of a Proxy do run (nothing tells a proxy from its target), and may throw.
(function (host, def) {
  "use strict";
  const { uncurry, list, join, getter, TypedArrayPrototype } = host.base;
  const { getPrototypeOf, getOwnPropertyDescriptor, hasOwn, is } = Object;
  const { ownKeys } = Reflect;
  const isArray = Array.isArray;
  const StringOf = String;
  const charCode = uncurry(String.prototype.charCodeAt);
  const slice = uncurry(String.prototype.slice);
  const indexOf = uncurry(String.prototype.indexOf);
  const repeat = uncurry(String.prototype.repeat);
  const hex = uncurry(Number.prototype.toString);
  const symbolText = uncurry(Symbol.prototype.toString);
  const functionText = uncurry(Function.prototype.toString);
  const enumerable = uncurry(Object.prototype.propertyIsEnumerable);
  const { toStringTag } = Symbol;

  const mapSize = getter(Map.prototype, "size");
  const mapEntries = uncurry(Map.prototype.entries);
  const mapNext = uncurry(getPrototypeOf(new Map().entries()).next);
  const setSize = getter(Set.prototype, "size");
  const setValues = uncurry(Set.prototype.values);
  const setNext = uncurry(getPrototypeOf(new Set().values()).next);
  const dateTime = uncurry(Date.prototype.getTime);
  const dateIso = uncurry(Date.prototype.toISOString);
  const regexSource = getter(RegExp.prototype, "source");
  const regexFlags = getter(RegExp.prototype, "flags");
  const typedName = getter(TypedArrayPrototype, toStringTag);
  const typedLength = getter(TypedArrayPrototype, "length");
  const bufferLength = getter(ArrayBuffer.prototype, "byteLength");
  const Bytes = Uint8Array;
  const domName = getter(DOMException.prototype, "name");
  const domMessage = getter(DOMException.prototype, "message");
  const DomPrototype = DOMException.prototype;
  const ErrorPrototype = Error.prototype;
  const ObjectPrototype = Object.prototype;
  const ArrayPrototype = Array.prototype;

  const WIDTH = 80;
  const MAX_ITEMS = 100;
  const MAX_KEYS = 200;
  const MAX_TEXT = 10000;
  const MAX_NODES = 10000;
  const MAX_SIZE = 1 << 18;
  const MAX_DEPTH = 64;

  // A property's value if it can be had without running code.
  const data = (object, key) => {
    for (let o = object, i = 0; o !== null && i < 1000; o = getPrototypeOf(o), i++) {
      const d = getOwnPropertyDescriptor(o, key);
      if (d !== undefined) return hasOwn(d, "value") ? d.value : undefined;
    }
    return undefined;
  };

  const functionName = (f) => {
    const name = data(f, "name");
    return typeof name === "string" ? name : "";
  };

  const constructorName = (object) => {
    for (let o = object, i = 0; o !== null && i < 1000; o = getPrototypeOf(o), i++) {
      const d = getOwnPropertyDescriptor(o, "constructor");
      if (d !== undefined && hasOwn(d, "value") && typeof d.value === "function") {
        const name = functionName(d.value);
        if (name !== "") return name;
      }
    }
    return null;
  };

  const escapes = {
    __proto__: null,
    8: "\\b", 9: "\\t", 10: "\\n", 11: "\\x0B", 12: "\\f", 13: "\\r", 92: "\\\\",
  };
  const quote = (text) => {
    const mark = indexOf(text, "'") < 0 ? "'" : indexOf(text, '"') < 0 ? '"'
      : indexOf(text, "`") < 0 && indexOf(text, "${") < 0 ? "`" : "'";
    const markCode = charCode(mark, 0);
    let out = mark;
    let done = 0;
    for (let i = 0; i < text.length; i++) {
      const c = charCode(text, i);
      if (c >= 32 && c !== 92 && c !== markCode && (c < 127 || (c > 159 && c < 0xd800) || c > 0xdfff)) {
        continue;
      }
      let escape;
      if (c === markCode) escape = "\\" + mark;
      else if (escapes[c] !== undefined) escape = escapes[c];
      else if (c < 160) escape = (c < 16 ? "\\x0" : "\\x") + hex(c, 16);
      else {
        const next = i + 1 < text.length ? charCode(text, i + 1) : 0;
        if (c < 0xdc00 && next >= 0xdc00 && next <= 0xdfff) {
          i++;
          continue;
        }
        escape = "\\u" + hex(c, 16);
      }
      out += slice(text, done, i) + escape;
      done = i + 1;
    }
    return out + slice(text, done) + mark;
  };

  const quoteCut = (text) => {
    if (text.length <= MAX_TEXT) return quote(text);
    const more = text.length - MAX_TEXT;
    return quote(slice(text, 0, MAX_TEXT)) + "... " + more + " more character" + (more > 1 ? "s" : "");
  };

  const isName = (text) => {
    for (let i = 0; i < text.length; i++) {
      const c = charCode(text, i);
      const letter = (c >= 97 && c <= 122) || (c >= 65 && c <= 90) || c === 95;
      if (!letter && (i === 0 || c < 48 || c > 57)) return false;
    }
    return text !== "";
  };
  const isIndex = (key, length) => {
    if (typeof key !== "string" || key === "" || key.length > 10) return false;
    for (let i = 0; i < key.length; i++) {
      const c = charCode(key, i);
      if (c < 48 || c > 57) return false;
    }
    return +key < length && (key === "0" || charCode(key, 0) !== 48);
  };

  const keyText = (key) => {
    if (typeof key === "symbol") return "[" + symbolText(key) + "]";
    return isName(key) ? key : quote(key);
  };

  const primitive = (v) => {
    switch (typeof v) {
      case "string": return quoteCut(v);
      case "number": return is(v, -0) ? "-0" : StringOf(v);
      case "bigint": return v + "n";
      case "symbol": return symbolText(v);
      default: return StringOf(v);
    }
  };

  const functionBase = (f) => {
    const name = functionName(f);
    const source = functionText(f);
    if (slice(source, 0, 5) === "class" && !isName(slice(source, 4, 6))) {
      const parent = getPrototypeOf(f);
      const parentName = typeof parent === "function" ? functionName(parent) : "";
      return "[class " + (name === "" ? "(anonymous)" : name) + (parentName && (" extends " + parentName)) + "]";
    }
    const kind = data(f, toStringTag);
    const type = typeof kind === "string" && kind !== "" ? kind : "Function";
    return name === "" ? "[" + type + " (anonymous)]" : "[" + type + ": " + name + "]";
  };

  const errorHead = (e, kind) => {
    let name;
    let message;
    if (kind === "dom") {
      name = domName(e);
      message = domMessage(e);
    } else {
      name = data(e, "name");
      message = data(e, "message");
    }
    if (typeof name !== "string" || name === "") name = "Error";
    if (name === "Error") name = constructorName(e) ?? name;
    message = typeof message === "string" ? message : message === undefined ? "" : primitiveOr(message);
    if (message.length > MAX_TEXT) message = slice(message, 0, MAX_TEXT) + "...";
    return message === "" ? name : name + ": " + message;
  };
  const primitiveOr = (v) => typeof v === "object" || typeof v === "function" ? "" : StringOf(v);

  // `name` says what a value is; for boxed primitives it is the function that unboxes them.
  // `check` throws for an impostor.
  const kinds = list();
  const kind = (prototype, name, check) => {
    kinds[kinds.length] = { __proto__: null, prototype, name, check };
  };
  const none = () => {};
  kind(Map.prototype, "map", mapSize);
  kind(Set.prototype, "set", setSize);
  kind(DomPrototype, "dom", domName);
  kind(ErrorPrototype, "error", none);
  kind(Date.prototype, "date", dateTime);
  kind(RegExp.prototype, "regex", regexSource);
  kind(TypedArrayPrototype, "typed", (v) => { if (typedName(v) === undefined) throw null; });
  kind(ArrayBuffer.prototype, "buffer", bufferLength);
  kind(Promise.prototype, "promise", none);
  kind(WeakMap.prototype, "weak", none);
  kind(WeakSet.prototype, "weak", none);
  kind(WeakRef.prototype, "weak", none);
  const boxed = (Constructor, name) => {
    const valueOf = uncurry(Constructor.prototype.valueOf);
    kind(Constructor.prototype, valueOf, valueOf);
  };
  boxed(String);
  boxed(Number);
  boxed(Boolean);
  boxed(Symbol);
  boxed(BigInt);

  const kindOf = (object) => {
    if (isArray(object)) return "array";
    for (let o = getPrototypeOf(object), i = 0; o !== null && i < 1000; o = getPrototypeOf(o), i++) {
      if (o === ObjectPrototype) break;
      for (let k = 0; k < kinds.length; k++) {
        if (kinds[k].prototype !== o || object === o) continue;
        try {
          kinds[k].check(object);
          return kinds[k].name;
        } catch {
          return "object";
        }
      }
    }
    return "object";
  };

  const propertyText = (state, object, key, depth) => {
    const d = getOwnPropertyDescriptor(object, key);
    if (d === undefined) return "undefined";
    if (hasOwn(d, "value")) return format(state, d.value, depth);
    return d.get === undefined ? (d.set === undefined ? "undefined" : "[Setter]")
      : d.set === undefined ? "[Getter]" : "[Getter/Setter]";
  };

  const more = (count, what) => "... " + count + " more " + what + (count > 1 ? "s" : "");

  const arrayItems = (state, out, array, length, depth) => {
    let shown = 0;
    let i = 0;
    while (i < length && shown < MAX_ITEMS && state.left > 0) {
      if (hasOwn(array, i)) {
        out[out.length] = propertyText(state, array, StringOf(i), depth);
        i++;
      } else {
        let holes = 0;
        // A huge sparse array: look no further than its items can be.
        while (i < length && holes < 10000 && !hasOwn(array, i)) {
          holes++;
          i++;
        }
        if (holes === 10000) {
          out[out.length] = "<" + (length - i + holes) + " empty or sparse items>";
          return;
        }
        out[out.length] = "<" + holes + " empty item" + (holes > 1 ? "s" : "") + ">";
      }
      shown++;
    }
    if (i < length) out[out.length] = more(length - i, "item");
  };

  const typedItems = (out, array) => {
    const length = typedLength(array);
    for (let i = 0; i < length && i < MAX_ITEMS; i++) out[out.length] = primitive(array[i]);
    if (length > MAX_ITEMS) out[out.length] = more(length - MAX_ITEMS, "item");
  };

  const collectionItems = (state, out, object, kindName, depth) => {
    const isMap = kindName === "map";
    const it = isMap ? mapEntries(object) : setValues(object);
    const size = isMap ? mapSize(object) : setSize(object);
    for (let i = 0; i < size; i++) {
      if (i === MAX_ITEMS || state.left <= 0) {
        out[out.length] = more(size - i, "item");
        return;
      }
      const r = isMap ? mapNext(it) : setNext(it);
      if (r.done) return;
      out[out.length] = isMap
        ? format(state, r.value[0], depth) + " => " + format(state, r.value[1], depth)
        : format(state, r.value, depth);
    }
  };

  const own = (state, out, object, kindName, depth) => {
    const keys = ownKeys(object);
    const length = kindName === "array" ? object.length
      : kindName === "typed" ? typedLength(object)
      : typeof kindName === "function" ? Infinity : 0;
    let shown = 0;
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i];
      if (length > 0 && isIndex(key, length)) continue;
      if (!enumerable(object, key)) continue;
      if (kindName === "error" && (key === "name" || key === "message" || key === "stack" || key === "cause")) {
        continue;
      }
      if (shown === MAX_KEYS || state.left <= 0) {
        out[out.length] = more(keys.length - i, "key");
        return;
      }
      out[out.length] = keyText(key) + ": " + propertyText(state, object, key, depth);
      shown++;
    }
  };

  const heads = { __proto__: null, map: true, set: true, typed: true };

  const prefixOf = (object, kindName) => {
    let name = constructorName(object);
    if (kindName === "array") {
      return name === "Array" ? "" : (name ?? "[Array: null prototype]") + "(" + object.length + ") ";
    }
    if (heads[kindName]) {
      const size = kindName === "map" ? mapSize(object) : kindName === "set" ? setSize(object)
        : typedLength(object);
      return (name ?? "Object") + "(" + size + ") ";
    }
    const tag = data(object, toStringTag);
    const tagged = typeof tag === "string" && tag !== "" && tag !== name ? " [" + slice(tag, 0, 100) + "]" : "";
    if (name === null) return "[Object: null prototype]" + tagged + " ";
    if (name === "Object" && tagged === "") return "";
    return slice(name, 0, 200) + tagged + " ";
  };

  const boxNames = {
    __proto__: null,
    string: "String", number: "Number", boolean: "Boolean", symbol: "Symbol", bigint: "BigInt",
  };

  const baseOf = (object, kindName, top) => {
    switch (kindName) {
      case "dom":
      case "error": {
        const head = errorHead(object, kindName);
        return top ? head : "[" + head + "]";
      }
      case "date": {
        const t = dateTime(object);
        return t === t ? dateIso(object) : "Invalid Date";
      }
      case "regex": return "/" + regexSource(object) + "/" + regexFlags(object);
      case "object": return "";
      default:
        if (typeof kindName === "object") return kindName.render(object);
        if (typeof kindName === "function") {
          const value = kindName(object);
          return "[" + boxNames[typeof value] + ": " + primitive(value) + "]";
        }
        return "";
    }
  };

  // Puts the parts on one line if they fit, else one per line (short array items: several).
  const layout = (state, out, base, open, close, depth, isList) => {
    const head = base === "" ? open : base + " " + open;
    if (out.length === 0) return head + close;
    let total = out.length + state.indent + head.length + 10;
    let longest = 0;
    let multiline = false;
    for (let i = 0; i < out.length; i++) {
      total += out[i].length + 1;
      if (out[i].length > longest && i < MAX_ITEMS) longest = out[i].length;
      if (!multiline && indexOf(out[i], "\n") >= 0) multiline = true;
    }
    if (state.deepest - depth < 3 && total <= WIDTH && !multiline) {
      return head + " " + join(out, ", ") + " " + close;
    }
    const pad = "\n" + repeat(" ", state.indent);
    if (isList && out.length > 6 && longest <= 16 && !multiline) {
      let text = head;
      let line = WIDTH;
      for (let i = 0; i < out.length; i++) {
        if (line + out[i].length + 2 > WIDTH) {
          text += pad + "  " + out[i];
          line = state.indent + 2 + out[i].length;
        } else {
          text += " " + out[i];
          line += out[i].length + 1;
        }
        if (i + 1 < out.length) {
          text += ",";
          line++;
        }
      }
      return text + pad + close;
    }
    return head + pad + "  " + join(out, "," + pad + "  ") + pad + close;
  };

  const formatObject = (state, object, depth) => {
    for (let i = 0; i < state.stack.length; i++) {
      if (state.stack[i] !== object) continue;
      let n = 0;
      while (n < state.circular.length && state.circular[n] !== object) n++;
      state.circular[n] = object;
      return "[Circular *" + (n + 1) + "]";
    }
    const isFunction = typeof object === "function";
    const kindName = isFunction ? "object" : kindOf(object);
    const base = isFunction ? functionBase(object) : baseOf(object, kindName, depth === 0);
    if (depth > state.depth) {
      if (base !== "") return base;
      if (kindName === "array") return "[Array]";
      return "[" + (constructorName(object) ?? "Object: null prototype") + "]";
    }
    state.stack[state.stack.length] = object;
    state.deepest = depth;
    const out = list();
    state.indent += 2;
    if (kindName === "array") arrayItems(state, out, object, object.length, depth + 1);
    else if (kindName === "typed") typedItems(out, object);
    else if (kindName === "map" || kindName === "set") {
      collectionItems(state, out, object, kindName, depth + 1);
    } else if (kindName === "buffer") {
      out[0] = "byteLength: " + bufferLength(object);
    } else if (kindName === "promise") out[0] = "<not awaited>";
    else if (kindName === "weak") out[0] = "<items unknown>";
    own(state, out, object, kindName, depth + 1);
    if (kindName === "error") {
      if (hasOwn(object, "cause")) {
        out[out.length] = "[cause]: " + propertyText(state, object, "cause", depth + 1);
      }
      if (hasOwn(object, "errors") && !enumerable(object, "errors")) {
        out[out.length] = "[errors]: " + propertyText(state, object, "errors", depth + 1);
      }
    }
    state.indent -= 2;
    state.stack.length--;

    let text;
    if (base !== "") {
      text = out.length === 0 ? base : layout(state, out, base, "{", "}", depth, false);
    } else {
      const isList = kindName === "array" || kindName === "typed";
      const prefix = prefixOf(object, kindName);
      text = layout(state, out, "", prefix + (isList ? "[" : "{"), isList ? "]" : "}", depth, isList);
    }
    for (let n = 0; n < state.circular.length; n++) {
      if (state.circular[n] === object) return "<ref *" + (n + 1) + "> " + text;
    }
    return text;
  };

  const format = (state, value, depth) => {
    if ((typeof value !== "object" || value === null) && typeof value !== "function") {
      const text = primitive(value);
      state.left -= 1 + text.length / (MAX_SIZE / MAX_NODES);
      return text;
    }
    if (--state.left <= 0) return "...";
    const { indent } = state;
    const open = state.stack.length;
    try {
      return formatObject(state, value, depth);
    } catch {
      // A trap threw, the proxy was revoked, or the stack ended.
      state.indent = indent;
      state.stack.length = open;
      return typeof value === "function" ? "[Function]" : "[Object: cannot be inspected]";
    }
  };

  // For the other globals' own kinds of object: their text, and no copy by structuredClone.
  host.addKind = (prototype, render) => kind(prototype, { __proto__: null, render }, render);
  host.kindOf = kindOf;
  host.data = data;
  host.quoteText = quote;
  host.inspect = (value, depth = 2) => {
    const limit = depth === null || !(depth < MAX_DEPTH) ? MAX_DEPTH : depth;
    const state = {
      __proto__: null, depth: limit, indent: 0, deepest: 0, left: MAX_NODES,
      stack: list(), circular: list(),
    };
    return format(state, value, 0);
  };
})
