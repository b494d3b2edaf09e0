// Locale methods without locale data: en-US and UTC only. Any other locale, and options that are
// not implemented, are refused: a result in the wrong locale would look right.
(function (host, def) {
  "use strict";
  const { uncurry, TypedArrayPrototype } = host.base;
  const { defineProperty } = Object;
  const { quoteText: quote } = host;
  const { apply, ownKeys } = Reflect;
  const isArray = Array.isArray;
  const StringOf = String;
  const NumberOf = Number;
  const RangeErrorCtor = RangeError;
  const TypeErrorCtor = TypeError;
  const charCode = uncurry(String.prototype.charCodeAt);
  const slice = uncurry(String.prototype.slice);
  const indexOf = uncurry(String.prototype.indexOf);
  const lower = uncurry(String.prototype.toLowerCase);
  const repeat = uncurry(String.prototype.repeat);
  const numberValue = uncurry(Number.prototype.valueOf);
  const bigintValue = uncurry(BigInt.prototype.valueOf);

  const checkLocale = (what, locales) => {
    if (locales === undefined) return;
    const names = isArray(locales) ? locales : [locales];
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      if (typeof name !== "string") {
        throw new TypeErrorCtor(what + ": a locale must be a string");
      }
      const tag = lower(name);
      // "default" names no locale, so that of the host is taken; what is not first is for hosts
      // that lack the first.
      if (i === 0 && tag !== "en-us" && tag !== "en" && tag !== "default") {
        throw new RangeErrorCtor(
          what + ": locale " + quote(slice(name, 0, 40)) + " is not available (only en-US, UTC); "
            + "leave the locale out, or build the text from its parts",
        );
      }
    }
  };

  const refuse = (what, option) => {
    throw new RangeErrorCtor(
      what + ": option " + quote(slice(StringOf(option), 0, 40)) + " is not available here; "
        + "build the text from its parts",
    );
  };

  // Reads the known options once, in the table's order, and refuses all others.
  const readOptions = (what, options, known) => {
    const out = { __proto__: null };
    if (options === undefined) return out;
    if (typeof options !== "object" || options === null) {
      throw new TypeErrorCtor(what + ": options must be an object");
    }
    const keys = ownKeys(options);
    for (let i = 0; i < keys.length; i++) {
      const value = options[keys[i]];
      if (value === undefined) continue;
      if (typeof keys[i] !== "string" || known[keys[i]] === undefined) refuse(what, keys[i]);
      out[keys[i]] = known[keys[i]](value, what, keys[i]);
    }
    return out;
  };
  const oneOf = (...values) => (value, what, name) => {
    const text = StringOf(value);
    for (let i = 0; i < values.length; i++) if (values[i] === text) return value;
    return refuse(what, name + ": " + text);
  };
  const digits = (value, what, name) => {
    const n = NumberOf(value);
    if (!(n >= 0 && n <= 20)) throw new RangeErrorCtor(what + ": " + name + " must be from 0 to 20");
    return n - (n % 1);
  };

  const install = (prototype, methods) => {
    for (const name of ownKeys(methods)) {
      defineProperty(prototype, name, {
        value: methods[name], writable: true, enumerable: false, configurable: true,
      });
    }
  };

  // --- numbers ---

  const symbols = {
    __proto__: null,
    USD: "$", EUR: "€", GBP: "£", JPY: "¥", INR: "₹", CNY: "CN¥", KRW: "₩", CAD: "CA$",
    AUD: "A$", NZD: "NZ$", MXN: "MX$", BRL: "R$", ILS: "₪", VND: "₫", TWD: "NT$", HKD: "HK$",
    CHF: "CHF\u00a0", SEK: "SEK\u00a0", NOK: "NOK\u00a0", DKK: "DKK\u00a0", PLN: "PLN\u00a0",
  };
  const wholeCurrencies = { __proto__: null, JPY: true, KRW: true, VND: true };
  const numberOptions = {
    __proto__: null,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    useGrouping: oneOf("true", "false", "auto", "always"),
    style: oneOf("decimal", "percent", "currency"),
    currency(value, what) {
      const code = StringOf(value);
      return symbols[code] === undefined ? refuse(what, "currency: " + code) : code;
    },
    currencyDisplay: oneOf("symbol"),
    notation: oneOf("standard"),
    numberingSystem: oneOf("latn"),
  };

  // A finite number without sign as decimal digits.
  const decimal = (value) => {
    const text = StringOf(value);
    const e = indexOf(text, "e");
    const mantissa = e < 0 ? text : slice(text, 0, e);
    const dot = indexOf(mantissa, ".");
    let whole = dot < 0 ? mantissa : slice(mantissa, 0, dot);
    let fraction = dot < 0 ? "" : slice(mantissa, dot + 1);
    const shift = e < 0 ? 0 : NumberOf(slice(text, e + 1));
    if (shift > 0) {
      const moved = fraction + repeat("0", shift);
      whole += slice(moved, 0, shift);
      fraction = fraction.length > shift ? slice(fraction, shift) : "";
    } else if (shift < 0) {
      fraction = repeat("0", -shift - whole.length > 0 ? -shift - whole.length : 0) + whole + fraction;
      whole = "0";
    }
    return { whole, fraction };
  };

  // Adds one to the last digit.
  const increment = (text) => {
    let i = text.length - 1;
    while (i >= 0 && text[i] === "9") i--;
    const tail = repeat("0", text.length - 1 - i);
    return i < 0 ? "1" + tail : slice(text, 0, i) + StringOf(NumberOf(text[i]) + 1) + tail;
  };

  const group = (whole) => {
    let out = "";
    let end = whole.length;
    while (end > 3) {
      out = "," + slice(whole, end - 3, end) + out;
      end -= 3;
    }
    return slice(whole, 0, end) + out;
  };

  const formatParts = (whole, fraction, min, max, grouping) => {
    if (fraction.length > max) {
      const up = charCode(fraction, max) >= 53;
      let all = whole + slice(fraction, 0, max);
      if (up) all = increment(all);
      whole = slice(all, 0, all.length - max);
      fraction = slice(all, all.length - max);
    }
    let keep = fraction.length;
    while (keep > min && fraction[keep - 1] === "0") keep--;
    fraction = slice(fraction, 0, keep);
    fraction += repeat("0", min > keep ? min - keep : 0);
    return (grouping ? group(whole) : whole) + (fraction === "" ? "" : "." + fraction);
  };

  const formatNumber = (what, value, locales, given) => {
    checkLocale(what, locales);
    const o = readOptions(what, given, numberOptions);
    const style = o.style ?? "decimal";
    if (style === "currency" && o.currency === undefined) {
      throw new TypeErrorCtor(what + ": style currency needs the option currency");
    }
    const usual = style === "percent" ? 0 : style === "currency" ? (wholeCurrencies[o.currency] ? 0 : 2) : -1;
    let min = o.minimumFractionDigits ?? (usual < 0 ? 0 : usual);
    let max = o.maximumFractionDigits ?? (usual < 0 ? 3 : usual);
    if (min > max) {
      if (o.maximumFractionDigits === undefined) max = min;
      else if (o.minimumFractionDigits === undefined) min = max;
      else throw new RangeErrorCtor(what + ": minimumFractionDigits is more than maximumFractionDigits");
    }
    const big = typeof value === "bigint";
    let sign = "";
    if (big ? value < 0n : value < 0 || (value === 0 && 1 / value < 0)) {
      sign = "-";
      value = -value;
    }
    let out;
    if (value !== value) {
      out = "NaN";
    } else if (value === Infinity) {
      out = "∞";
    } else {
      let { whole, fraction } = big ? { whole: StringOf(value), fraction: "" } : decimal(value);
      if (style === "percent") {
        fraction += "00";
        whole += slice(fraction, 0, 2);
        fraction = slice(fraction, 2);
        let zeros = 0;
        while (zeros < whole.length - 1 && whole[zeros] === "0") zeros++;
        whole = slice(whole, zeros);
      }
      out = formatParts(whole, fraction, min, max, !(o.useGrouping === false || o.useGrouping === "false"));
    }
    if (style === "percent") return sign + out + "%";
    return style === "currency" ? sign + symbols[o.currency] + out : sign + out;
  };

  const numberMethods = {
    toLocaleString(locales = undefined, options = undefined) {
      return formatNumber("Number.toLocaleString", numberValue(this), locales, options);
    },
  };
  const bigintMethods = {
    toLocaleString(locales = undefined, options = undefined) {
      return formatNumber("BigInt.toLocaleString", bigintValue(this), locales, options);
    },
  };
  install(Number.prototype, numberMethods);
  install(BigInt.prototype, bigintMethods);

  // Elements are formatted by their own toLocaleString, as the standard says.
  for (const prototype of [Array.prototype, TypedArrayPrototype]) {
    const original = prototype.toLocaleString;
    install(prototype, {
      toLocaleString(locales = undefined, options = undefined) {
        checkLocale("Array.toLocaleString", locales);
        if (options !== undefined) readOptions("Array.toLocaleString", options, { __proto__: null });
        return apply(original, this, []);
      },
    });
  }

  host.locale = { __proto__: null, checkLocale, readOptions, oneOf, refuse, install };
})
