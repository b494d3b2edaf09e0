// `console`: every call appends one text to the cell's ordered output. Nothing here throws.
(function (host, def) {
  "use strict";
  const { uncurry, list, method } = host.base;
  const { inspect, text, monotonic } = host;
  const { hasOwn, getOwnPropertyDescriptor, getPrototypeOf } = Object;
  const { ownKeys } = Reflect;
  const isArray = Array.isArray;
  const StringOf = String;
  const NumberOf = Number;
  const { parseInt: parseIntOf, parseFloat: parseFloatOf } = globalThis;
  const stringify = JSON.stringify;
  const slice = uncurry(String.prototype.slice);
  const charCode = uncurry(String.prototype.charCodeAt);
  const indexOf = uncurry(String.prototype.indexOf);
  const toFixed = uncurry(Number.prototype.toFixed);
  const NamesMap = Map;
  const mapGet = uncurry(Map.prototype.get);
  const mapSet = uncurry(Map.prototype.set);
  const mapDelete = uncurry(Map.prototype.delete);
  const mapSize = uncurry(getOwnPropertyDescriptor(Map.prototype, "size").get);
  const mapEntries = uncurry(Map.prototype.entries);
  const mapNext = uncurry(getPrototypeOf(new Map().entries()).next);

  const MAX_NAMES = 1000;
  const MAX_ROWS = 1000;
  const MAX_COLUMNS = 50;
  const MAX_CELL = 200;

  let indent = "";
  const counts = new NamesMap();
  const timers = new NamesMap();

  const write = (line) => {
    if (indent !== "") {
      let out = indent;
      let done = 0;
      for (let at = indexOf(line, "\n"); at >= 0; at = indexOf(line, "\n", done)) {
        out += slice(line, done, at + 1) + indent;
        done = at + 1;
      }
      line = out + slice(line, done);
    }
    text(line);
  };

  const show = (value) => (typeof value === "string" ? value : inspect(value));

  // A guest's own toString may throw or give anything.
  const asString = (value) => {
    if (typeof value === "string") return value;
    if (typeof value === "object" && value !== null) {
      try {
        for (let o = value, i = 0; o !== null && i < 100; o = getPrototypeOf(o), i++) {
          const d = getOwnPropertyDescriptor(o, "toString");
          if (d === undefined) continue;
          const builtIn = builtInToString(d.value);
          if (!builtIn) return StringOf(value);
          break;
        }
      } catch {}
      return inspect(value, 0);
    }
    return inspect(value);
  };
  const builtInPrototypes = [
    Object.prototype, Array.prototype, Error.prototype, Date.prototype, RegExp.prototype,
    Function.prototype, DOMException.prototype,
  ];
  const builtInToStrings = list();
  for (const prototype of builtInPrototypes) {
    builtInToStrings[builtInToStrings.length] = prototype.toString;
  }
  const builtInToString = (f) => {
    for (let i = 0; i < builtInToStrings.length; i++) if (builtInToStrings[i] === f) return true;
    return false;
  };

  const asNumber = (value, convert) => {
    if (typeof value === "bigint") return value + "n";
    if (typeof value === "symbol" || (typeof value === "object" && value !== null)) return "NaN";
    try {
      return inspect(convert(value));
    } catch {
      return "NaN";
    }
  };

  const asJson = (value) => {
    try {
      return StringOf(stringify(value));
    } catch {
      return inspect(value);
    }
  };

  const directives = {
    __proto__: null,
    s: asString,
    d: (v) => asNumber(v, NumberOf),
    i: (v) => asNumber(v, parseIntOf),
    f: (v) => asNumber(v, parseFloatOf),
    j: asJson,
    o: (v) => inspect(v, 4),
    O: (v) => inspect(v),
    c: () => "",
  };

  const formatArgs = (args) => {
    const n = args.length;
    if (n === 0) return "";
    let next = 0;
    let out = "";
    const first = args[0];
    if (typeof first === "string") {
      next = 1;
      if (n === 1) return first;
      let done = 0;
      for (let at = indexOf(first, "%"); at >= 0; at = indexOf(first, "%", at + 2)) {
        const letter = slice(first, at + 1, at + 2);
        if (letter === "%") {
          out += slice(first, done, at + 1);
          done = at + 2;
          continue;
        }
        if (next >= n) continue;
        const directive = directives[letter];
        if (directive === undefined) {
          at--;
          continue;
        }
        out += slice(first, done, at) + directive(args[next++]);
        done = at + 2;
      }
      out += slice(first, done);
      if (next < n) out += " ";
    }
    for (let i = next; i < n; i++) out += (i > next ? " " : "") + show(args[i]);
    return out;
  };

  const label = (value) => {
    try {
      return value === undefined ? "default" : slice(StringOf(value), 0, 200);
    } catch {
      return "default";
    }
  };

  const duration = (ms) => {
    if (ms < 1000) return NumberOf(toFixed(ms, 3)) + "ms";
    return ms < 60000 ? toFixed(ms / 1000, 3) + "s" : toFixed(ms / 60000, 3) + "m";
  };

  const tail = (args, from) => {
    let out = "";
    for (let i = from; i < args.length; i++) out += " " + show(args[i]);
    return out;
  };

  const elapsed = (name) => {
    const start = mapGet(timers, name);
    return start === undefined ? "Timer '" + name + "' does not exist"
      : name + ": " + duration(monotonic() - start);
  };

  const cell = (value) => {
    let out = inspect(value, 0);
    if (out.length > MAX_CELL) out = slice(out, 0, MAX_CELL) + "...";
    let clean = "";
    for (let i = 0; i < out.length; i++) {
      const c = charCode(out, i);
      clean += c === 10 ? " " : c === 124 ? "\\|" : out[i];
    }
    return clean;
  };

  const own = (object, key) => {
    const d = getOwnPropertyDescriptor(object, key);
    if (d === undefined) return undefined;
    return hasOwn(d, "value") ? cell(d.value) : "[Getter]";
  };

  const keyText = (key) => (typeof key === "symbol" ? inspect(key) : key);

  // A Markdown table: (index), then one column per key, then Values for rows that are no objects.
  const table = (rows, columns) => {
    const isMap = mapLike(rows);
    const keys = isMap ? null : ownKeys(rows);
    const names = list();
    const lines = list();
    let values = false;
    const addName = (name) => {
      for (let i = 0; i < names.length; i++) if (names[i] === name) return;
      if (names.length < MAX_COLUMNS) names[names.length] = name;
    };
    const addRow = (index, row) => {
      const isObject = typeof row === "object" && row !== null;
      if (!isObject) values = true;
      else if (columns === undefined) {
        const rowKeys = ownKeys(row);
        for (let i = 0; i < rowKeys.length && i < MAX_COLUMNS; i++) {
          if (isArray(row) && rowKeys[i] === "length") continue;
          addName(rowKeys[i]);
        }
      }
      lines[lines.length] = { __proto__: null, index, row, isObject };
    };
    let left = 0;
    if (isMap) {
      const it = mapEntries(rows);
      for (let r = mapNext(it); !r.done; r = mapNext(it)) {
        if (lines.length < MAX_ROWS) addRow(cell(r.value[0]), r.value[1]);
        else left++;
      }
    } else {
      for (let i = 0; i < keys.length; i++) {
        const d = getOwnPropertyDescriptor(rows, keys[i]);
        if (d === undefined || !d.enumerable) continue;
        if (lines.length < MAX_ROWS) addRow(keyText(keys[i]), hasOwn(d, "value") ? d.value : "[Getter]");
        else left++;
      }
    }
    if (columns !== undefined) {
      for (let i = 0; i < columns.length && i < MAX_COLUMNS; i++) addName(columns[i]);
    }
    let head = "| (index) |";
    let rule = "| --- |";
    for (let i = 0; i < names.length; i++) {
      head += " " + keyText(names[i]) + " |";
      rule += " --- |";
    }
    if (values) {
      head += " Values |";
      rule += " --- |";
    }
    let out = head + "\n" + rule;
    for (let i = 0; i < lines.length; i++) {
      const { index, row, isObject } = lines[i];
      let line = "\n| " + index + " |";
      for (let j = 0; j < names.length; j++) {
        line += " " + ((isObject ? own(row, names[j]) : undefined) ?? "") + " |";
      }
      if (values) line += " " + (isObject ? "" : cell(row)) + " |";
      out += line;
    }
    return left > 0 ? out + "\n... " + left + " more row" + (left > 1 ? "s" : "") : out;
  };
  const mapLike = (value) => {
    try {
      mapSize(value);
      return true;
    } catch {
      return false;
    }
  };

  const openGroup = (args) => {
    if (args.length > 0) write(formatArgs(args));
    if (indent.length < 100) indent += "  ";
  };

  const methods = {
    log(...args) { write(formatArgs(args)); },
    info(...args) { write(formatArgs(args)); },
    debug(...args) { write(formatArgs(args)); },
    warn(...args) { write(formatArgs(args)); },
    error(...args) { write(formatArgs(args)); },
    trace(...args) { write(args.length === 0 ? "Trace" : "Trace: " + formatArgs(args)); },
    assert(condition, ...args) {
      if (condition) return;
      write(args.length === 0 ? "Assertion failed"
        : typeof args[0] === "string" ? "Assertion failed: " + formatArgs(args)
        : "Assertion failed" + tail(args, 0));
    },
    dir(value, options) {
      let depth = 2;
      try {
        const d = options?.depth;
        if (d === null || typeof d === "number") depth = d;
      } catch {}
      write(inspect(value, depth));
    },
    dirxml(...args) { write(formatArgs(args)); },
    table(rows, columns) {
      let out;
      try {
        const plain = typeof rows !== "object" || rows === null;
        out = plain ? show(rows) : table(rows, isArray(columns) ? columns : undefined);
      } catch {
        out = inspect(rows);
      }
      write(out);
    },
    group(...args) { openGroup(args); },
    groupCollapsed(...args) { openGroup(args); },
    groupEnd() { indent = slice(indent, 2); },
    count(name) {
      const key = label(name);
      const n = (mapGet(counts, key) ?? 0) + 1;
      if (n > 1 || mapSize(counts) < MAX_NAMES) mapSet(counts, key, n);
      write(key + ": " + n);
    },
    countReset(name) { mapDelete(counts, label(name)); },
    time(name) {
      const key = label(name);
      if (mapGet(timers, key) !== undefined) write("Timer '" + key + "' already exists");
      else if (mapSize(timers) < MAX_NAMES) mapSet(timers, key, monotonic());
    },
    timeEnd(name) {
      const key = label(name);
      write(elapsed(key));
      mapDelete(timers, key);
    },
    timeLog(name, ...args) { write(elapsed(label(name)) + tail(args, 0)); },
  };

  const console = {};
  for (const name of ownKeys(methods)) method(console, name, methods[name]);
  Object.defineProperty(console, Symbol.toStringTag, { value: "console", configurable: true });
  def("console", console);
})
