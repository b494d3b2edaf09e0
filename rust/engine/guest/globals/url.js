// `URL` and `URLSearchParams` of the WHATWG standard over the parser in urlparse.js.
(function (host, def) {
  "use strict";
  const { uncurry, list, toText } = host.base;
  const { parse, serialize, pathText, isSpecial, encode, decode, split, sets, states } = host.url;
  const { quoteText: quote } = host;
  const TypeErrorCtor = TypeError;
  const { apply, ownKeys } = Reflect;
  const { create, defineProperty, getOwnPropertyDescriptor } = Object;
  const StringOf = String;
  const { iterator } = Symbol;
  const slice = uncurry(String.prototype.slice);
  const indexOf = uncurry(String.prototype.indexOf);
  const wellFormed = uncurry(String.prototype.toWellFormed);
  const sort = uncurry(Array.prototype.sort);
  const IteratorPrototype = Iterator.prototype;

  const usv = (value) => wellFormed(toText(value));

  const plusToSpace = (text) => {
    if (indexOf(text, "+") < 0) return text;
    let out = "";
    for (let i = 0; i < text.length; i++) out += text[i] === "+" ? " " : text[i];
    return out;
  };
  const formText = (text) => {
    const encoded = encode(text, sets.FORM);
    if (indexOf(encoded, "%20") < 0) return encoded;
    let from = 0;
    let out = "";
    for (let i = indexOf(encoded, "%20"); i >= 0; i = indexOf(encoded, "%20", from)) {
      out += slice(encoded, from, i) + "+";
      from = i + 3;
    }
    return out + slice(encoded, from);
  };

  const pair = (name, value) => ({ __proto__: null, name, value });

  const parseForm = (text) => {
    const out = list();
    const parts = split(text, "&");
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i];
      if (part === "") continue;
      const equals = indexOf(part, "=");
      const name = equals < 0 ? part : slice(part, 0, equals);
      const value = equals < 0 ? "" : slice(part, equals + 1);
      out[out.length] = pair(decode(plusToSpace(name)), decode(plusToSpace(value)));
    }
    return out;
  };
  const formatForm = (pairs) => {
    let out = "";
    for (let i = 0; i < pairs.length; i++) {
      out += (i === 0 ? "" : "&") + formText(pairs[i].name) + "=" + formText(pairs[i].value);
    }
    return out;
  };

  const need = (count, wanted, what) => {
    if (count < wanted) {
      throw new TypeErrorCtor(what + " needs " + wanted + " argument" + (wanted > 1 ? "s" : ""));
    }
  };

  // Reads a sequence of [name, value] sequences, or an object's own properties.
  const pairsOf = (init) => {
    const out = list();
    if (init[iterator] !== undefined && init[iterator] !== null) {
      for (const item of init) {
        let name;
        let value;
        let n = 0;
        if (typeof item === "object" && item !== null) {
          for (const part of item) {
            if (n === 0) name = usv(part);
            else value = usv(part);
            if (++n > 2) break;
          }
        }
        if (n !== 2) throw new TypeErrorCtor("URLSearchParams: each item must be a [name, value] pair");
        out[out.length] = pair(name, value);
      }
      return out;
    }
    const keys = ownKeys(init);
    for (let i = 0; i < keys.length; i++) {
      const d = getOwnPropertyDescriptor(init, keys[i]);
      if (d === undefined || !d.enumerable) continue;
      const name = usv(keys[i]);
      const value = usv(init[keys[i]]);
      let k = 0;
      while (k < out.length && out[k].name !== name) k++;
      out[k] = pair(name, value);
    }
    return out;
  };

  let attach;
  let replace;
  let makeIterator;

  class URLSearchParams {
    #pairs;
    #url = null;

    constructor(init = "") {
      if ((typeof init === "object" && init !== null) || typeof init === "function") {
        this.#pairs = pairsOf(init);
      } else {
        const text = usv(init);
        this.#pairs = parseForm(slice(text, 0, 1) === "?" ? slice(text, 1) : text);
      }
    }

    static {
      attach = (params, url, text) => {
        params.#url = url;
        params.#pairs = parseForm(text);
      };
      replace = (params, text) => { params.#pairs = parseForm(text); };
      makeIterator = (params, give) => {
        const state = { __proto__: null, params, give, at: 0 };
        return createIterator(state, () => params.#pairs);
      };
      host.addKind(URLSearchParams.prototype, (params) => {
        const pairs = params.#pairs;
        let out = "URLSearchParams {";
        for (let i = 0; i < pairs.length && i < 100; i++) {
          out += (i === 0 ? " " : ", ") + quote(pairs[i].name) + " => " + quote(pairs[i].value);
        }
        return out + (pairs.length > 100 ? ", ..." : "") + (pairs.length > 0 ? " }" : "}");
      });
    }

    #changed() {
      if (this.#url !== null) setQuery(this.#url, formatForm(this.#pairs));
    }

    get size() { return this.#pairs.length; }
    append(name, value) {
      need(arguments.length, 2, "URLSearchParams.append");
      this.#pairs[this.#pairs.length] = pair(usv(name), usv(value));
      this.#changed();
    }
    delete(name, value = undefined) {
      need(arguments.length, 1, "URLSearchParams.delete");
      const key = usv(name);
      const only = value === undefined ? undefined : usv(value);
      const pairs = this.#pairs;
      let n = 0;
      for (let i = 0; i < pairs.length; i++) {
        if (pairs[i].name !== key || (only !== undefined && pairs[i].value !== only)) pairs[n++] = pairs[i];
      }
      pairs.length = n;
      this.#changed();
    }
    get(name) {
      need(arguments.length, 1, "URLSearchParams.get");
      const key = usv(name);
      const pairs = this.#pairs;
      for (let i = 0; i < pairs.length; i++) if (pairs[i].name === key) return pairs[i].value;
      return null;
    }
    getAll(name) {
      need(arguments.length, 1, "URLSearchParams.getAll");
      const key = usv(name);
      const pairs = this.#pairs;
      const out = [];
      for (let i = 0; i < pairs.length; i++) {
        if (pairs[i].name === key) put(out, out.length, pairs[i].value);
      }
      return out;
    }
    has(name, value = undefined) {
      need(arguments.length, 1, "URLSearchParams.has");
      const key = usv(name);
      const only = value === undefined ? undefined : usv(value);
      const pairs = this.#pairs;
      for (let i = 0; i < pairs.length; i++) {
        if (pairs[i].name === key && (only === undefined || pairs[i].value === only)) return true;
      }
      return false;
    }
    set(name, value) {
      need(arguments.length, 2, "URLSearchParams.set");
      const key = usv(name);
      const text = usv(value);
      const pairs = this.#pairs;
      let n = 0;
      let found = false;
      for (let i = 0; i < pairs.length; i++) {
        if (pairs[i].name !== key) pairs[n++] = pairs[i];
        else if (!found) {
          found = true;
          pairs[n++] = pair(key, text);
        }
      }
      pairs.length = n;
      if (!found) pairs[n] = pair(key, text);
      this.#changed();
    }
    sort() {
      sort(this.#pairs, (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
      this.#changed();
    }
    forEach(callback, thisArg = undefined) {
      if (typeof callback !== "function") {
        throw new TypeErrorCtor("URLSearchParams.forEach: the callback must be a function");
      }
      for (let i = 0; i < this.#pairs.length; i++) {
        apply(callback, thisArg, [this.#pairs[i].value, this.#pairs[i].name, this]);
      }
    }
    entries() { return makeIterator(this, (p) => [p.name, p.value]); }
    keys() { return makeIterator(this, (p) => p.name); }
    values() { return makeIterator(this, (p) => p.value); }
    toString() { return formatForm(this.#pairs); }
  }

  const put = (target, key, value) => defineProperty(target, key, {
    __proto__: null, value, writable: true, enumerable: true, configurable: true,
  });
  const hidden = (target, key, value) => defineProperty(target, key, {
    __proto__: null, value, writable: true, enumerable: false, configurable: true,
  });
  const shown = (Constructor, names, tag) => {
    for (const name of names) defineProperty(Constructor.prototype, name, { enumerable: true });
    defineProperty(Constructor.prototype, Symbol.toStringTag, { value: tag, configurable: true });
  };

  const iteratorPrototype = create(IteratorPrototype);
  const iteratorStates = new WeakMap();
  const stateGet = uncurry(WeakMap.prototype.get);
  const stateSet = uncurry(WeakMap.prototype.set);
  hidden(iteratorPrototype, "next", { next() {
    const state = stateGet(iteratorStates, this);
    if (state === undefined) throw new TypeErrorCtor("next: this is no URLSearchParams iterator");
    const pairs = state.pairs();
    if (state.at >= pairs.length) return { value: undefined, done: true };
    return { value: state.give(pairs[state.at++]), done: false };
  } }.next);
  defineProperty(iteratorPrototype, Symbol.toStringTag, {
    value: "URLSearchParams Iterator", configurable: true,
  });
  const createIterator = (state, pairs) => {
    state.pairs = pairs;
    const it = create(iteratorPrototype);
    stateSet(iteratorStates, it, state);
    return it;
  };
  hidden(URLSearchParams.prototype, iterator, URLSearchParams.prototype.entries);

  const makeRecord = (url, base) => {
    const text = usv(url);
    let parsedBase = null;
    if (base !== undefined) {
      const baseText = usv(base);
      parsedBase = parse(baseText, null);
      if (parsedBase === null) return "Invalid URL: base " + quote(slice(baseText, 0, 200));
    }
    return parse(text, parsedBase) ?? ("Invalid URL: " + quote(slice(text, 0, 200)));
  };

  let setQuery;
  const noCredentials = (r) => r.host === null || r.host === "" || r.scheme === "file";

  class URL {
    #record;
    #params = null;

    constructor(url, base = undefined) {
      need(arguments.length, 1, "URL");
      const record = makeRecord(url, base);
      if (typeof record === "string") {
        const error = new TypeErrorCtor(record);
        hidden(error, "code", "ERR_INVALID_URL");
        throw error;
      }
      this.#record = record;
    }

    static {
      setQuery = (url, text) => {
        url.#record.query = text === "" ? null : text;
        if (text === "") url.#trimPath();
      };
      host.addKind(URL.prototype, (url) => "URL { href: " + quote(serialize(url.#record)) + " }");
      host.urlText = (value) => (#record in value ? serialize(value.#record) : undefined);
    }

    static canParse(url, base = undefined) {
      need(arguments.length, 1, "URL.canParse");
      return typeof makeRecord(url, base) !== "string";
    }
    static parse(url, base = undefined) {
      need(arguments.length, 1, "URL.parse");
      return typeof makeRecord(url, base) === "string" ? null : new URL(url, base);
    }

    // Setters work on a copy: a failure in the middle must leave the URL as it was.
    #try(text, state) {
      const r = this.#record;
      const copy = { __proto__: null, ...r };
      if (typeof r.path !== "string") {
        copy.path = list();
        for (let i = 0; i < r.path.length; i++) copy.path[i] = r.path[i];
      }
      const done = parse(text, null, copy, state);
      if (done !== null || state === states.HOST) this.#record = copy;
    }
    // An opaque path may end in spaces only as long as something follows it.
    #trimPath() {
      const r = this.#record;
      if (typeof r.path !== "string" || r.query !== null || r.fragment !== null) return;
      let end = r.path.length;
      while (end > 0 && r.path[end - 1] === " ") end--;
      r.path = slice(r.path, 0, end);
    }
    #refresh() {
      if (this.#params !== null) replace(this.#params, this.#record.query ?? "");
    }

    get href() { return serialize(this.#record); }
    set href(value) {
      const record = makeRecord(value, undefined);
      if (typeof record === "string") throw new TypeErrorCtor(record);
      this.#record = record;
      this.#refresh();
    }
    get origin() {
      const r = this.#record;
      if (r.scheme === "blob") {
        const inner = parse(pathText(r), null);
        return inner !== null && (inner.scheme === "http" || inner.scheme === "https") ? originOf(inner) : "null";
      }
      return isSpecial(r) && r.scheme !== "file" ? originOf(r) : "null";
    }
    get protocol() { return this.#record.scheme + ":"; }
    set protocol(value) { this.#try(usv(value) + ":", states.SCHEME_START); }
    get username() { return this.#record.username; }
    set username(value) {
      const text = usv(value);
      if (!noCredentials(this.#record)) this.#record.username = encode(text, sets.USERINFO);
    }
    get password() { return this.#record.password; }
    set password(value) {
      const text = usv(value);
      if (!noCredentials(this.#record)) this.#record.password = encode(text, sets.USERINFO);
    }
    get host() {
      const r = this.#record;
      return r.host === null ? "" : r.port === null ? r.host : r.host + ":" + r.port;
    }
    set host(value) {
      const text = usv(value);
      if (typeof this.#record.path !== "string") this.#try(text, states.HOST);
    }
    get hostname() { return this.#record.host ?? ""; }
    set hostname(value) {
      const text = usv(value);
      if (typeof this.#record.path !== "string") this.#try(text, states.HOSTNAME);
    }
    get port() { return this.#record.port === null ? "" : StringOf(this.#record.port); }
    set port(value) {
      const text = usv(value);
      if (noCredentials(this.#record)) return;
      if (text === "") this.#record.port = null;
      else this.#try(text, states.PORT);
    }
    get pathname() { return pathText(this.#record); }
    set pathname(value) {
      const text = usv(value);
      if (typeof this.#record.path === "string") return;
      this.#record.path = list();
      this.#try(text, states.PATH_START);
    }
    get search() {
      const { query } = this.#record;
      return query === null || query === "" ? "" : "?" + query;
    }
    set search(value) {
      const text = usv(value);
      if (text === "") {
        this.#record.query = null;
        this.#trimPath();
      } else {
        this.#record.query = "";
        this.#try(slice(text, 0, 1) === "?" ? slice(text, 1) : text, states.QUERY_STATE);
      }
      this.#refresh();
    }
    get searchParams() {
      if (this.#params === null) {
        this.#params = new URLSearchParams();
        attach(this.#params, this, this.#record.query ?? "");
      }
      return this.#params;
    }
    get hash() {
      const { fragment } = this.#record;
      return fragment === null || fragment === "" ? "" : "#" + fragment;
    }
    set hash(value) {
      const text = usv(value);
      if (text === "") {
        this.#record.fragment = null;
        this.#trimPath();
      } else {
        this.#record.fragment = "";
        this.#try(slice(text, 0, 1) === "#" ? slice(text, 1) : text, states.FRAGMENT_STATE);
      }
    }
    toString() { return serialize(this.#record); }
    toJSON() { return serialize(this.#record); }
  }
  const originOf = (r) => r.scheme + "://" + r.host + (r.port === null ? "" : ":" + r.port);

  shown(URLSearchParams, [
    "append", "delete", "get", "getAll", "has", "set", "sort", "forEach", "entries", "keys",
    "values", "toString", "size",
  ], "URLSearchParams");
  shown(URL, [
    "href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname",
    "search", "searchParams", "hash", "toString", "toJSON",
  ], "URL");
  def("URL", URL);
  def("URLSearchParams", URLSearchParams);
})
