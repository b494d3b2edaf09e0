// TextEncoder and TextDecoder (utf-8, utf-16le). atob and btoa are the engine's.
(function (host, def) {
  "use strict";
  const { uncurry, toText, getter, TypedArrayPrototype } = host.base;
  const { utf8Encode, utf8Decode } = host;
  const { isView } = ArrayBuffer;
  const { fromCharCode } = String;
  const Bytes = Uint8Array;
  const TypeErrorCtor = TypeError;
  const RangeErrorCtor = RangeError;
  const charCode = uncurry(String.prototype.charCodeAt);
  const slice = uncurry(String.prototype.slice);
  const lower = uncurry(String.prototype.toLowerCase);
  const trim = uncurry(String.prototype.trim);
  const setBytes = uncurry(TypedArrayPrototype.set);
  const typedBuffer = getter(TypedArrayPrototype, "buffer");
  const typedOffset = getter(TypedArrayPrototype, "byteOffset");
  const typedBytes = getter(TypedArrayPrototype, "byteLength");
  const typedName = getter(TypedArrayPrototype, Symbol.toStringTag);
  const viewBuffer = getter(DataView.prototype, "buffer");
  const viewOffset = getter(DataView.prototype, "byteOffset");
  const viewBytes = getter(DataView.prototype, "byteLength");
  const bufferBytes = getter(ArrayBuffer.prototype, "byteLength");

  const labels = {
    __proto__: null,
    "utf-8": "utf-8", utf8: "utf-8", "unicode-1-1-utf-8": "utf-8",
    "utf-16le": "utf-16le", "utf-16": "utf-16le", "ucs-2": "utf-16le", unicode: "utf-16le",
  };

  const bytesOf = (input) => {
    if (input === undefined) return new Bytes(0);
    if (isView(input)) {
      return typedName(input) === undefined
        ? new Bytes(viewBuffer(input), viewOffset(input), viewBytes(input))
        : new Bytes(typedBuffer(input), typedOffset(input), typedBytes(input));
    }
    try {
      bufferBytes(input);
    } catch {
      throw new TypeErrorCtor("TextDecoder.decode: the input must be an ArrayBuffer or a view of one");
    }
    return new Bytes(input);
  };

  // Not `subarray`: that would ask a guest's constructor for its species.
  const view = (bytes, from, count) => new Bytes(typedBuffer(bytes), typedOffset(bytes) + from, count);

  // Length of the incomplete sequence at the end of UTF-8 text that a later chunk may complete.
  const openEnd = (bytes) => {
    const n = typedBytes(bytes);
    for (let back = 1; back <= 3 && back <= n; back++) {
      const b = bytes[n - back];
      if (b < 0x80) return 0;
      if (b < 0xc0) continue;
      const need = b >= 0xf0 && b <= 0xf4 ? 4 : b >= 0xe0 && b < 0xf0 ? 3 : b >= 0xc2 && b < 0xe0 ? 2 : 0;
      if (need <= back) return 0;
      if (back > 1) {
        const second = bytes[n - back + 1];
        if ((b === 0xe0 && second < 0xa0) || (b === 0xed && second > 0x9f)
          || (b === 0xf0 && second < 0x90) || (b === 0xf4 && second > 0x8f)) return 0;
      }
      return back;
    }
    return 0;
  };

  const utf16 = (bytes, fatal, final) => {
    const n = typedBytes(bytes);
    let end = n - (n % 2);
    if (!final && end >= 2 && (bytes[end - 1] & 0xfc) === 0xd8) end -= 2;
    let out = "";
    for (let i = 0; i < end; i += 2) {
      const unit = bytes[i] | (bytes[i + 1] << 8);
      if ((unit & 0xf800) === 0xd800) {
        const next = i + 3 < end ? bytes[i + 2] | (bytes[i + 3] << 8) : 0;
        if (unit < 0xdc00 && (next & 0xfc00) === 0xdc00) {
          out += fromCharCode(unit, next);
          i += 2;
          continue;
        }
        if (fatal) throw new TypeErrorCtor("TextDecoder.decode: the bytes are not valid utf-16le");
        out += "\ufffd";
      } else out += fromCharCode(unit);
    }
    if (final && end < n) {
      if (fatal) throw new TypeErrorCtor("TextDecoder.decode: the bytes are not valid utf-16le");
      out += "\ufffd";
    }
    return { __proto__: null, out, used: end };
  };

  class TextEncoder {
    get encoding() { return "utf-8"; }
    encode(input = "") { return utf8Encode(toText(input)); }
    encodeInto(source, destination) {
      const text = toText(source);
      if (!isView(destination) || typedName(destination) !== "Uint8Array") {
        throw new TypeErrorCtor("TextEncoder.encodeInto: the second argument must be a Uint8Array");
      }
      const room = typedBytes(destination);
      let read = 0;
      let written = 0;
      while (read < text.length) {
        const c = charCode(text, read);
        const next = read + 1 < text.length ? charCode(text, read + 1) : 0;
        const pair = (c & 0xfc00) === 0xd800 && (next & 0xfc00) === 0xdc00;
        const size = pair ? 4 : c < 0x80 ? 1 : c < 0x800 ? 2 : 3;
        if (written + size > room) break;
        written += size;
        read += pair ? 2 : 1;
      }
      setBytes(destination, utf8Encode(slice(text, 0, read)));
      return { read, written };
    }
  }

  class TextDecoder {
    #encoding;
    #fatal;
    #ignoreBOM;
    #held = null;
    #started = false;

    constructor(label = "utf-8", options = undefined) {
      const wanted = toText(label);
      const name = labels[lower(trim(wanted))];
      if (name === undefined) {
        throw new RangeErrorCtor(
          "TextDecoder: encoding " + host.quoteText(wanted) + " is not available; utf-8 and utf-16le are",
        );
      }
      this.#encoding = name;
      this.#fatal = !!options?.fatal;
      this.#ignoreBOM = !!options?.ignoreBOM;
    }
    get encoding() { return this.#encoding; }
    get fatal() { return this.#fatal; }
    get ignoreBOM() { return this.#ignoreBOM; }

    decode(input = undefined, options = undefined) {
      let bytes = bytesOf(input);
      const final = !options?.stream;
      const held = this.#held;
      if (held !== null) {
        const whole = new Bytes(typedBytes(held) + typedBytes(bytes));
        setBytes(whole, held);
        setBytes(whole, bytes, typedBytes(held));
        bytes = whole;
        this.#held = null;
      }
      const started = this.#started;
      this.#started = false;
      const length = typedBytes(bytes);
      let out;
      let used = length;
      if (this.#encoding === "utf-8") {
        if (!final) used -= openEnd(bytes);
        out = utf8Decode(view(bytes, 0, used), this.#fatal);
      } else {
        const r = utf16(bytes, this.#fatal, final);
        out = r.out;
        if (!final) used = r.used;
      }
      if (used < length) {
        // A copy: the caller may change its buffer before the next chunk.
        const rest = new Bytes(length - used);
        setBytes(rest, view(bytes, used, length - used));
        this.#held = rest;
      }
      if (!started && !this.#ignoreBOM && charCode(out, 0) === 0xfeff) out = slice(out, 1);
      this.#started = !final && (started || used > 0);
      return out;
    }
  }

  const tag = (Constructor, name) => Object.defineProperty(Constructor.prototype, Symbol.toStringTag, {
    value: name, configurable: true,
  });
  tag(TextEncoder, "TextEncoder");
  tag(TextDecoder, "TextDecoder");
  def("TextEncoder", TextEncoder);
  def("TextDecoder", TextDecoder);
})
