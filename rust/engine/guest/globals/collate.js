// localeCompare in the order of en-US for text in Latin script, with the options `numeric` and
// `sensitivity`: punctuation, symbols, digits, letters; then accents; then small before capital
// letters. Other scripts follow by code point, without their own alphabets' special rules.
(function (host, def) {
  "use strict";
  const { uncurry, toText } = host.base;
  const { checkLocale, readOptions, oneOf, refuse, install } = host.locale;
  const TypeErrorCtor = TypeError;
  const StringOf = String;
  const { fromCharCode } = String;
  const charCode = uncurry(String.prototype.charCodeAt);
  const slice = uncurry(String.prototype.slice);
  const lower = uncurry(String.prototype.toLowerCase);
  const upper = uncurry(String.prototype.toUpperCase);
  const indexOf = uncurry(String.prototype.indexOf);
  const normalize = uncurry(String.prototype.normalize);

  const marks = "\t\n\u000b\f\r \u00a0_-–—―,;:!¡?¿.…·'‘’‚‹›\"“”„«»"
    + "()[]{}§¶@*/\\&#%‰†‡•′″`´^¯¨¸°©®←→↑↓↔⇒+±÷×<=≠>¬|¦~−√∞≈≤≥■□▪●○★☆✓✔✗✘¤¢$£¥€₹₽";
  const SYMBOL = 0x300;
  const DIGIT = 0x400;
  const LATIN = 0x500;
  const OTHER = 0x600;

  // Letters that normalisation leaves whole, as their base letters.
  const bases = {
    __proto__: null,
    "æ": "ae", "œ": "oe", "ß": "ss", "ø": "o", "đ": "d", "ð": "d", "ł": "l", "ħ": "h", "ŧ": "t",
  };
  const extra = { __proto__: null, "ĳ": "ij", "ŉ": "ʼn", "ſ": "s", "ª": "a", "º": "o" };
  // Letters with a place of their own behind a base letter.
  const behind = { __proto__: null, "ı": 0x69, "ŋ": 0x6e, "ĸ": 0x71, "þ": 0x7a };

  const weights = new Uint16Array(128);
  for (let c = 0; c < 128; c++) {
    const at = marks.indexOf(fromCharCode(c));
    weights[c] = at >= 0 ? at + 1 : c >= 48 && c <= 57 ? DIGIT + c - 48
      : c >= 97 && c <= 122 ? LATIN + 2 * (c - 97) : c >= 65 && c <= 90 ? LATIN + 2 * (c - 65) : 0;
  }

  // Appends the weights of one character that is not ASCII.
  const addOther = (key, text, c) => {
    if (c >= 0x300 && c <= 0x36f) {
      // и with breve is a letter of its own.
      if (c === 0x306 && key.last === 0x438) {
        key.primary = slice(key.primary, 0, key.primary.length - 1) + fromCharCode(OTHER + 0x439);
        return;
      }
      key.accents += fromCharCode(c);
      return;
    }
    const small = lower(text);
    const isUpper = small !== text;
    const base = bases[small] ?? extra[small];
    if (base !== undefined) {
      for (let i = 0; i < base.length; i++) {
        addWeight(key, weightOf(charCode(base, i)), isUpper);
      }
      key.accents += "\u0338";
      return;
    }
    const after = behind[small];
    if (after !== undefined) {
      addWeight(key, weights[after] + 1, isUpper);
      return;
    }
    const at = indexOf(marks, text);
    if (at >= 0) addWeight(key, at + 1, false);
    else if ((c >= 0x2000 && c < 0x2c00) || c === 0xd83c || c === 0xd83d || c === 0xd83e) {
      addWeight(key, SYMBOL, false);
      key.primary += text;
    } else {
      key.last = charCode(small, 0);
      addWeight(key, OTHER + key.last > 0xffff ? 0xffff : OTHER + key.last, isUpper);
      if (OTHER + key.last > 0xffff) key.primary += small;
    }
  };
  const weightOf = (c) => (c < 128 ? weights[c] : OTHER + c);
  const addWeight = (key, weight, isUpper) => {
    key.primary += fromCharCode(weight);
    key.accents += " ";
    key.cases += isUpper ? "b" : "a";
  };

  const keyOf = (text, numeric) => {
    const key = { __proto__: null, primary: "", accents: "", cases: "", last: 0 };
    for (let i = 0; i < text.length; i++) {
      const c = charCode(text, i);
      if (c >= 128) {
        const next = c >= 0xd800 && c < 0xdc00 ? i + 2 : i + 1;
        addOther(key, slice(text, i, next), c);
        i = next - 1;
        continue;
      }
      key.last = 0;
      if (numeric && c >= 48 && c <= 57) {
        let end = i + 1;
        while (end < text.length && charCode(text, end) >= 48 && charCode(text, end) <= 57) end++;
        while (i < end - 1 && charCode(text, i) === 48) i++;
        addWeight(key, DIGIT, false);
        addWeight(key, DIGIT + (end - i > 250 ? 250 : end - i), false);
        for (; i < end; i++) addWeight(key, weights[charCode(text, i)], false);
        i = end - 1;
        continue;
      }
      const weight = weights[c];
      if (weight !== 0) addWeight(key, weight, c >= 65 && c <= 90);
    }
    return key;
  };

  const order = (a, b) => (a === b ? 0 : a < b ? -1 : 1);

  const isAscii = (text) => {
    for (let i = 0; i < text.length; i++) if (charCode(text, i) > 127) return false;
    return true;
  };
  const decompose = (text) => (isAscii(text) ? text : normalize(text, "NFD"));

  const options = {
    __proto__: null,
    numeric: (value) => !!value,
    sensitivity: oneOf("base", "accent", "case", "variant"),
    usage: oneOf("sort"),
    caseFirst: oneOf("false"),
    localeMatcher: oneOf("best fit", "lookup"),
    ignorePunctuation: (value, what, name) => (value ? refuse(what, name) : false),
  };

  const thisText = (self, name) => {
    if (self === undefined || self === null) {
      throw new TypeErrorCtor("String.prototype." + name + " called on " + StringOf(self));
    }
    return toText(self);
  };

  install(String.prototype, {
    localeCompare(that, locales = undefined, given = undefined) {
      const a = thisText(this, "localeCompare");
      const b = toText(that);
      checkLocale("localeCompare", locales);
      const o = given === undefined ? undefined : readOptions("localeCompare", given, options);
      if (a === b) return 0;
      const numeric = o?.numeric === true;
      const x = keyOf(decompose(a), numeric);
      const y = keyOf(decompose(b), numeric);
      let result = order(x.primary, y.primary);
      const sensitivity = o?.sensitivity;
      if (result === 0 && sensitivity !== "base" && sensitivity !== "case") {
        result = order(x.accents, y.accents);
      }
      if (result === 0 && sensitivity !== "base" && sensitivity !== "accent") {
        result = order(x.cases, y.cases);
      }
      return result;
    },
    toLocaleUpperCase(locales = undefined) {
      const text = thisText(this, "toLocaleUpperCase");
      checkLocale("toLocaleUpperCase", locales);
      return upper(text);
    },
    toLocaleLowerCase(locales = undefined) {
      const text = thisText(this, "toLocaleLowerCase");
      checkLocale("toLocaleLowerCase", locales);
      return lower(text);
    },
  });
})
