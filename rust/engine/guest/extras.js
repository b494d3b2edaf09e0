// Globals that only some runs have besides MCP: `nodes`, plugin namespaces, `agents`, `phase` and
// `log`; and `namespaces`, which every run has. Evaluated in the template VM before bridge.js,
// which calls `host.extras(spec)` before a cell starts. Targets and inputs are untrusted: the
// host checks them.
(function (host, frozen) {
  "use strict";
  const { freeze, create, defineProperty } = Object;
  const { ownKeys } = Reflect;
  const ErrorCtor = Error;

  // The error is made here so that its frames are those of the caller.
  const call = (op, target, input) => host.call(op, target, input, new ErrorCtor());
  const own = (target, key, value) =>
    defineProperty(target, key, { __proto__: null, value, enumerable: true });
  const method = (target, key, value) => own(target, key, freeze(value));

  const deepFreeze = (v) => {
    if (typeof v === "object" && v !== null) {
      const keys = ownKeys(v);
      for (let i = 0; i < keys.length; i++) deepFreeze(v[keys[i]]);
      freeze(v);
    }
    return v;
  };
  // For bridge.js, which comes next.
  host.callFrom = call;
  host.deepFreeze = deepFreeze;

  // Frozen when it is first read: until then `host.extras` fills it.
  const registry = create(null);
  defineProperty(globalThis, "namespaces", {
    __proto__: null, enumerable: true, configurable: false,
    get: { namespaces() { return freeze(registry); } }.namespaces,
    set: undefined,
  });

  const nodeHandle = (node) => {
    const handle = create(null);
    own(handle, "id", node.id);
    own(handle, "name", node.name);
    method(handle, "invoke", {
      invoke(command, params) {
        return call("nodes.invoke", "", { node: node.id, command, params });
      },
    }.invoke);
    if (node.listDir) {
      method(handle, "listDir", {
        listDir(path) {
          return call("nodes.invoke", "", {
            node: node.id, command: "fs.listDir", params: { path },
          });
        },
      }.listDir);
    }
    return freeze(handle);
  };

  const nodes = () => {
    const root = create(null);
    method(root, "list", { list() { return call("nodes.list", "", {}); } }.list);
    method(root, "get", {
      async get(idOrName) { return nodeHandle(await call("nodes.get", "", { node: idOrName })); },
    }.get);
    return freeze(root);
  };

  // A node of a namespace is `{call: key}`, `{data: value}` or `{members: [[name, node], …]}`.
  const namespace = (name, node) => {
    if (node.call !== undefined) {
      const key = node.call;
      return freeze({ [name](...args) { return call("namespace", key, args); } }[name]);
    }
    if (node.members === undefined) return deepFreeze(node.data);
    const out = create(null);
    for (let i = 0; i < node.members.length; i++) {
      const member = node.members[i];
      own(out, member[0], namespace(member[0], member[1]));
    }
    return freeze(out);
  };

  const agents = () => {
    const root = create(null);
    method(root, "run", {
      run(prompt, options) { return call("agents.run", "", { prompt, options }); },
    }.run);
    return freeze(root);
  };

  host.extras = (spec) => {
    if (spec.nodes) own(globalThis, "nodes", nodes());
    if (spec.swarm) {
      own(globalThis, "agents", agents());
      method(globalThis, "phase", {
        phase(note) { call("agents.note", "phase", note); },
      }.phase);
      method(globalThis, "log", { log(note) { call("agents.note", "log", note); } }.log);
    }
    const given = spec.namespaces;
    const names = given ? ownKeys(given) : [];
    for (let i = 0; i < names.length; i++) {
      const made = namespace(names[i], given[names[i]]);
      own(globalThis, names[i], made);
      own(registry, names[i], made);
    }
  };
})
