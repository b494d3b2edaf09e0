// `crypto`: random values from the operating system. No `subtle`.
(function (host, def) {
  "use strict";
  const { uncurry, method, getter, TypedArrayPrototype } = host.base;
  const { random } = host;
  const typedName = getter(TypedArrayPrototype, Symbol.toStringTag);
  const typedBuffer = getter(TypedArrayPrototype, "buffer");
  const typedOffset = getter(TypedArrayPrototype, "byteOffset");
  const typedBytes = getter(TypedArrayPrototype, "byteLength");
  const Bytes = Uint8Array;
  const DomError = DOMException;
  const hex = uncurry(Number.prototype.toString);

  const QUOTA = 65536;
  const integers = {
    __proto__: null,
    Int8Array: true, Uint8Array: true, Uint8ClampedArray: true, Int16Array: true, Uint16Array: true,
    Int32Array: true, Uint32Array: true, BigInt64Array: true, BigUint64Array: true,
  };

  const functions = {
    getRandomValues(array) {
      let name;
      try {
        name = typedName(array);
      } catch {}
      if (name === undefined || !integers[name]) {
        throw new DomError(
          "crypto.getRandomValues: the argument must be an integer typed array, such as new Uint8Array(16)",
          "TypeMismatchError",
        );
      }
      const length = typedBytes(array);
      if (length > QUOTA) {
        throw new DomError(
          "crypto.getRandomValues: " + length + " bytes asked for; at most " + QUOTA + " in one call",
          "QuotaExceededError",
        );
      }
      if (length > 0) random(new Bytes(typedBuffer(array), typedOffset(array), length));
      return array;
    },
    randomUUID() {
      const bytes = new Bytes(16);
      random(bytes);
      bytes[6] = (bytes[6] & 0x0f) | 0x40;
      bytes[8] = (bytes[8] & 0x3f) | 0x80;
      let out = "";
      for (let i = 0; i < 16; i++) {
        if (i === 4 || i === 6 || i === 8 || i === 10) out += "-";
        out += (bytes[i] < 16 ? "0" : "") + hex(bytes[i], 16);
      }
      return out;
    },
  };

  const crypto = {};
  method(crypto, "getRandomValues", functions.getRandomValues);
  method(crypto, "randomUUID", functions.randomUUID);
  Object.defineProperty(crypto, Symbol.toStringTag, { value: "Crypto", configurable: true });
  def("crypto", crypto);
})
