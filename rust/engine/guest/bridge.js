// Evaluated once in the template VM. `host` holds native functions that the guest never sees;
// `frozen(name, value)` defines a global that cannot be replaced. Gives the helpers that the
// value conversion calls. Everything used later is taken from the built-ins now, before any
// guest code can change them. No template literals: the engine looks their `concat` up at run time.
(function (host, frozen) {
  "use strict";
  const { apply, ownKeys } = Reflect;
  const { freeze, create, defineProperty, getPrototypeOf, getOwnPropertyDescriptor } = Object;
  const uncurry = (f) => (self, ...args) => apply(f, self, args);
  const ErrorCtor = Error;
  const ProxyCtor = Proxy;
  const TypeErrorCtor = TypeError;
  const StringOf = String;
  const { isArray } = Array;
  const mapEntries = uncurry(Map.prototype.entries);
  const mapNext = uncurry(getPrototypeOf(new Map().entries()).next);
  const setValues = uncurry(Set.prototype.values);
  const setNext = uncurry(getPrototypeOf(new Set().values()).next);
  const dateIso = uncurry(Date.prototype.toISOString);
  const dateValue = uncurry(Date.prototype.getTime);
  const symbolText = uncurry(Symbol.prototype.toString);
  const regexSource = uncurry(Object.getOwnPropertyDescriptor(RegExp.prototype, "source").get);
  const regexFlags = uncurry(Object.getOwnPropertyDescriptor(RegExp.prototype, "flags").get);
  const functionSource = uncurry(Function.prototype.toString);
  const startsWith = uncurry(String.prototype.startsWith);
  const TypedArray = getPrototypeOf(Uint8Array);
  const typedTag = uncurry(Object.getOwnPropertyDescriptor(TypedArray.prototype, Symbol.toStringTag).get);
  const typedLength = uncurry(Object.getOwnPropertyDescriptor(TypedArray.prototype, "length").get);
  const Bytes = Uint8Array;
  const viewBuffer = uncurry(Object.getOwnPropertyDescriptor(DataView.prototype, "buffer").get);
  const viewOffset = uncurry(Object.getOwnPropertyDescriptor(DataView.prototype, "byteOffset").get);
  const viewLength = uncurry(Object.getOwnPropertyDescriptor(DataView.prototype, "byteLength").get);
  const domName = uncurry(getOwnPropertyDescriptor(DOMException.prototype, "name").get);
  const domMessage = uncurry(getOwnPropertyDescriptor(DOMException.prototype, "message").get);
  const unboxers = [String, Number, Boolean, Symbol, BigInt].map((c) => uncurry(c.prototype.valueOf));
  const push = (list, value) => {
    defineProperty(list, list.length, {
      __proto__: null, value, writable: true, enumerable: true, configurable: true,
    });
  };

  const helpers = {
    __proto__: null,
    BigInt,
    symbolText,
    functionText(f) {
      const d = Reflect.getOwnPropertyDescriptor(f, "name");
      const name = d && typeof d.value === "string" && d.value !== "" ? d.value : "(anonymous)";
      const isClass = startsWith(functionSource(f), "class");
      return (isClass ? "[class " : "[Function: ") + name + "]";
    },
    dateText(d) {
      const t = dateValue(d);
      return t === t ? dateIso(d) : null;
    },
    mapPairs(m) {
      const flat = [];
      const it = mapEntries(m);
      for (let r = mapNext(it); !r.done; r = mapNext(it)) {
        push(flat, r.value[0]);
        push(flat, r.value[1]);
      }
      return flat;
    },
    toList(v) {
      const list = [];
      let typed = v;
      if (typedTag(v) === undefined) {
        try {
          const it = setValues(v);
          for (let r = setNext(it); !r.done; r = setNext(it)) push(list, r.value);
          return list;
        } catch {
          try {
            typed = new Bytes(viewBuffer(v), viewOffset(v), viewLength(v));
          } catch {
            typed = new Bytes(v);
          }
        }
      }
      const n = typedLength(typed);
      for (let i = 0; i < n; i++) push(list, typed[i]);
      return list;
    },
    domError(v) {
      try {
        return { name: domName(v), message: domMessage(v) };
      } catch {}
    },
    unbox(v) {
      for (let i = 0; i < unboxers.length; i++) {
        try {
          return unboxers[i](v);
        } catch {}
      }
      return "/" + regexSource(v) + "/" + regexFlags(v);
    },
  };

  // Shared by extras.js, which comes before.
  const { callFrom: call, deepFreeze } = host;
  const idOf = (tool) =>
    typeof tool === "object" && tool !== null && typeof tool.id === "string" ? tool.id : tool;

  const toolHelpers = {
    __proto__: null,
    search(query, options) { return call("search", query === undefined ? "" : query, options); },
    describe(id) { return call("describe", idOf(id), undefined); },
    call(id, input) { return call("call", idOf(id), input); },
    callValue(id, input) { return call("callValue", idOf(id), input); },
    [Symbol.toPrimitive]() { return "[object Tools]"; },
    [Symbol.toStringTag]: "Tools",
  };
  for (const key of ownKeys(toolHelpers)) freeze(toolHelpers[key]);
  helpers.toolCaller = (id) => {
    const f = { tool(input) { return call("callValue", id, input); } }.tool;
    return f;
  };

  frozen("tools", host.toolsObject(toolHelpers));
  // `list.forEach(text)` also gives the index and the list.
  const isVisit = (value, more) =>
    more.length === 2 && typeof more[0] === "number" && isArray(more[1]) && more[1][more[0]] === value;
  // As JSON.stringify takes them.
  const isFormat = (more) =>
    more.length <= 2 && (more[0] === undefined || more[0] === null || typeof more[0] === "function");
  frozen("text", freeze({
    text(value, ...more) {
      if (more.length === 0 || isVisit(value, more)) return host.text(value);
      const all = [];
      push(all, value);
      for (let i = 0; i < more.length; i++) push(all, more[i]);
      apply(host.text, undefined, all);
    },
  }.text));
  frozen("json", freeze({
    json(value, ...more) {
      host.json(value);
      if (isFormat(more) || isVisit(value, more)) return;
      for (let i = 0; i < more.length; i++) host.json(more[i]);
    },
  }.json));
  frozen("yield_control", freeze({
    yield_control(reason) { return host.yieldControl(reason); },
  }.yield_control));

  const lazy = (name, make) => {
    let value;
    defineProperty(globalThis, name, {
      __proto__: null, enumerable: true, configurable: false,
      get: { [name]() { return value ??= make(); } }[name],
      set: undefined,
    });
  };
  lazy("ALL_TOOLS", () => deepFreeze(host.fetch("catalog", "")));

  const api = { __proto__: null };
  api.list = async function list(prefix) {
    const files = host.fetch("apiList", "");
    const out = [];
    const want = prefix === undefined || prefix === null ? "" : StringOf(prefix);
    for (let i = 0; i < files.length; i++) {
      if (want === "" || startsWith(files[i].path, want)) push(out, files[i]);
    }
    return { files: out };
  };
  api.read = async function read(path) {
    if (typeof path !== "string") {
      throw new TypeErrorCtor("API.read(path): path must be a string; API.list() gives the paths");
    }
    const file = host.fetch("apiRead", path);
    if (file === null) {
      throw new ErrorCtor(
        "API.read: there is no file " + host.quote(path) + "; API.list() gives the paths",
      );
    }
    return file;
  };
  freeze(api.list);
  freeze(api.read);
  frozen("API", freeze(api));

  // Globals that only some runs have; called before the cell starts.
  const { extras } = host;
  helpers.install = (spec) => {
    if (spec.mcp) lazy("MCP", () => buildMcp(host.fetch("mcpNames", "")));
    extras(spec);
  };

  // The engine and ourselves ask for these.
  const unasked = { __proto__: null, then: 1, toJSON: 1, constructor: 1, toString: 1, valueOf: 1 };
  // An object without properties that only remembers which were asked for.
  const listener = (place, names, reason) => new ProxyCtor(freeze(create(null)), {
    __proto__: null,
    get(_, name) {
      if (typeof name === "string" && !(name in unasked)) host.missed(place, name, names, reason);
    },
  });

  const groups = ["resources", "prompts"];
  const buildMcp = (servers) => {
    let keys = "";
    for (let i = 0; i < servers.length; i++) keys += servers[i].key + "\n";
    const root = create(listener("MCP", keys, ""));
    for (let i = 0; i < servers.length; i++) {
      const server = servers[i];
      let names = "";
      for (let j = 0; j < server.tools.length; j++) names += server.tools[j][0] + "\n";
      const ns = create(listener("MCP." + server.key, names, server.unavailable ?? ""));
      const method = (target, key, op, id) => {
        const f = { [key](input) { return call(op, id, input); } }[key];
        defineProperty(target, key, { __proto__: null, value: freeze(f), enumerable: true });
      };
      for (let j = 0; j < server.tools.length; j++) {
        const key = server.tools[j][0];
        const original = server.tools[j][1];
        const id = server.tools[j][2];
        method(ns, key, "mcp", id);
        if (original !== key && !(original in ns)) {
          defineProperty(ns, original, { __proto__: null, value: ns[key], enumerable: false });
        }
      }
      for (let g = 0; g < groups.length; g++) {
        const group = groups[g];
        const ids = server[group];
        if (!ids) continue;
        const sub = create(null);
        const inGroup = ownKeys(ids);
        for (let j = 0; j < inGroup.length; j++) method(sub, inGroup[j], "mcp", ids[inGroup[j]]);
        defineProperty(ns, group, { __proto__: null, value: freeze(sub), enumerable: true });
      }
      const $api = {
        $api(toolName, options) { return call("mcpApi", server.key, { toolName, options }); },
      }.$api;
      defineProperty(ns, "$api", { __proto__: null, value: freeze($api), enumerable: true });
      freeze(ns);
      defineProperty(root, server.key, { __proto__: null, value: ns, enumerable: true });
      if (server.name !== server.key && !(server.name in root)) {
        defineProperty(root, server.name, { __proto__: null, value: ns, enumerable: false });
      }
    }
    return freeze(root);
  };

  // Stack texts are made readable when somebody reads them.
  const stackOf = getOwnPropertyDescriptor(ErrorCtor.prototype, "stack");
  const rawStack = uncurry(stackOf.get);
  defineProperty(ErrorCtor.prototype, "stack", {
    ...stackOf,
    get: getOwnPropertyDescriptor({ get stack() { return host.stack(this, rawStack(this)); } }, "stack").get,
  });

  // A call site would give away the functions of these files and those of `host`.
  ErrorCtor.prepareStackTrace = (_, frames) => {
    delete getPrototypeOf(frames[0]).getFunction;
  };
  new ErrorCtor();
  ErrorCtor.prepareStackTrace = undefined;

  for (const name of ["SharedArrayBuffer", "Atomics"]) delete globalThis[name];
  return helpers;
})
