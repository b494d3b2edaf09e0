// The URL parser of the WHATWG standard over code units. `host.url` is for url.js alone.
// A URL record: {scheme, username, password, host: string|null, port: number|null,
// path: list of segments, or a string if opaque, query: string|null, fragment: string|null}.
(function (host, def) {
  "use strict";
  const { uncurry, list, join } = host.base;
  const { utf8Encode, utf8Decode } = host;
  const TypeErrorCtor = TypeError;
  const NumberOf = Number;
  const Bytes = Uint8Array;
  const Uint16Of = Uint16Array;
  const charCode = uncurry(String.prototype.charCodeAt);
  const slice = uncurry(String.prototype.slice);
  const indexOf = uncurry(String.prototype.indexOf);
  const lower = uncurry(String.prototype.toLowerCase);
  const radix = uncurry(Number.prototype.toString);
  const { floor } = Math;
  const at = (text, i) => (i >= 0 && i < text.length ? charCode(text, i) : -1);

  const ports = { __proto__: null, ftp: 21, file: null, http: 80, https: 443, ws: 80, wss: 443 };
  const isSpecial = (url) => ports[url.scheme] !== undefined;

  // Percent-encode sets as bits of one table.
  const C0 = 1, FRAGMENT = 2, QUERY = 4, SPECIAL_QUERY = 8, PATH = 16, USERINFO = 32, FORM = 64;
  const sets = new Bytes(128);
  for (let c = 0; c < 128; c++) {
    const ch = String.fromCharCode(c);
    if (c < 32 || c === 127) sets[c] = C0 | FRAGMENT | QUERY | SPECIAL_QUERY | PATH | USERINFO | FORM;
    if (" \"<>`".includes(ch)) sets[c] |= FRAGMENT;
    if (" \"#<>".includes(ch)) sets[c] |= QUERY | SPECIAL_QUERY | PATH | USERINFO;
    if (ch === "'") sets[c] |= SPECIAL_QUERY;
    if ("?^`{}".includes(ch)) sets[c] |= PATH | USERINFO;
    if ("/:;=@[\\]^|".includes(ch)) sets[c] |= USERINFO;
    if (!/[A-Za-z0-9*._-]/.test(ch)) sets[c] |= FORM;
  }

  const digits = "0123456789ABCDEF";
  const percent = (byte) => "%" + digits[byte >> 4] + digits[byte & 15];

  const encode = (text, set) => {
    let out = "";
    let done = 0;
    for (let i = 0; i < text.length; i++) {
      const c = charCode(text, i);
      if (c < 128 && (sets[c] & set) === 0) continue;
      let end = i + 1;
      while (end < text.length && charCode(text, end) >= 128) end++;
      out += slice(text, done, i);
      const bytes = utf8Encode(slice(text, i, end));
      for (let k = 0; k < bytes.length; k++) out += percent(bytes[k]);
      i = end - 1;
      done = end;
    }
    return out + slice(text, done);
  };

  const hexValue = (c) => (c >= 48 && c <= 57 ? c - 48 : c >= 97 && c <= 102 ? c - 87
    : c >= 65 && c <= 70 ? c - 55 : -1);
  const isDigit = (c) => c >= 48 && c <= 57;
  const isAlpha = (c) => (c >= 97 && c <= 122) || (c >= 65 && c <= 90);

  const decodeBytes = (text) => {
    const bytes = utf8Encode(text);
    let n = 0;
    for (let i = 0; i < bytes.length; i++) {
      let b = bytes[i];
      if (b === 37 && i + 2 < bytes.length) {
        const high = hexValue(bytes[i + 1]);
        const low = hexValue(bytes[i + 2]);
        if (high >= 0 && low >= 0) {
          b = high * 16 + low;
          i += 2;
        }
      }
      bytes[n++] = b;
    }
    const out = new Bytes(n);
    for (let i = 0; i < n; i++) out[i] = bytes[i];
    return out;
  };
  const decode = (text) => (indexOf(text, "%") < 0 ? text : utf8Decode(decodeBytes(text), false));

  const split = (text, mark) => {
    const out = list();
    let from = 0;
    for (let i = indexOf(text, mark); i >= 0; i = indexOf(text, mark, from)) {
      out[out.length] = slice(text, from, i);
      from = i + 1;
    }
    out[out.length] = slice(text, from);
    return out;
  };

  // --- hosts; `null` is failure ---

  const parseNumber = (text) => {
    if (text === "") return null;
    let base = 10;
    if (text.length >= 2 && at(text, 0) === 48) {
      const x = at(text, 1);
      base = x === 120 || x === 88 ? 16 : 8;
      text = slice(text, base === 16 ? 2 : 1);
    }
    let n = 0;
    for (let i = 0; i < text.length; i++) {
      const v = hexValue(charCode(text, i));
      if (v < 0 || v >= base) return null;
      n = n * base + v;
    }
    return n;
  };

  const endsInNumber = (text) => {
    const parts = split(text, ".");
    if (parts[parts.length - 1] === "") {
      if (parts.length === 1) return false;
      parts.length--;
    }
    const last = parts[parts.length - 1];
    if (last !== "") {
      let decimal = true;
      for (let i = 0; i < last.length; i++) if (!isDigit(charCode(last, i))) decimal = false;
      if (decimal) return true;
    }
    return at(last, 0) === 48 && (at(last, 1) === 120 || at(last, 1) === 88) && parseNumber(last) !== null;
  };

  const parseIpv4 = (text) => {
    const parts = split(text, ".");
    if (parts[parts.length - 1] === "" && parts.length > 1) parts.length--;
    if (parts.length > 4) return null;
    let address = 0;
    for (let i = 0; i < parts.length; i++) {
      const n = parseNumber(parts[i]);
      if (n === null) return null;
      if (i < parts.length - 1) {
        if (n > 255) return null;
        address += n * 256 ** (3 - i);
      } else {
        if (n >= 256 ** (5 - parts.length)) return null;
        address += n;
      }
    }
    return floor(address / 16777216) + "." + (floor(address / 65536) % 256) + "." + (floor(address / 256) % 256) + "." + (address % 256);
  };

  const parseIpv6 = (text) => {
    const pieces = new Uint16Of(8);
    let piece = 0;
    let compress = -1;
    let i = 0;
    if (at(text, 0) === 58) {
      if (at(text, 1) !== 58) return null;
      i = 2;
      compress = ++piece;
    }
    while (i < text.length) {
      if (piece === 8) return null;
      if (at(text, i) === 58) {
        if (compress >= 0) return null;
        i++;
        compress = ++piece;
        continue;
      }
      let value = 0;
      let length = 0;
      while (length < 4 && hexValue(at(text, i)) >= 0) {
        value = value * 16 + hexValue(at(text, i));
        i++;
        length++;
      }
      if (at(text, i) === 46) {
        if (length === 0) return null;
        i -= length;
        if (piece > 6) return null;
        let seen = 0;
        while (i < text.length) {
          if (seen > 0) {
            if (at(text, i) !== 46 || seen >= 4) return null;
            i++;
          }
          if (!isDigit(at(text, i))) return null;
          let n = -1;
          while (isDigit(at(text, i))) {
            const digit = at(text, i) - 48;
            if (n === 0) return null;
            n = n < 0 ? digit : n * 10 + digit;
            if (n > 255) return null;
            i++;
          }
          pieces[piece] = pieces[piece] * 256 + n;
          seen++;
          if (seen === 2 || seen === 4) piece++;
        }
        if (seen !== 4) return null;
        break;
      }
      if (at(text, i) === 58) {
        i++;
        if (i >= text.length) return null;
      } else if (i < text.length) return null;
      pieces[piece++] = value;
    }
    if (compress >= 0) {
      let swaps = piece - compress;
      piece = 7;
      while (piece !== 0 && swaps > 0) {
        const other = compress + swaps - 1;
        const kept = pieces[other];
        pieces[other] = pieces[piece];
        pieces[piece] = kept;
        piece--;
        swaps--;
      }
    } else if (piece !== 8) return null;
    return ipv6Text(pieces);
  };

  const ipv6Text = (pieces) => {
    let best = -1;
    let bestLength = 1;
    for (let i = 0; i < 8; i++) {
      let n = 0;
      while (i + n < 8 && pieces[i + n] === 0) n++;
      if (n > bestLength) {
        best = i;
        bestLength = n;
      }
      if (n > 0) i += n - 1;
    }
    let out = "";
    for (let i = 0; i < 8; i++) {
      if (i === best) {
        out += i === 0 ? "::" : ":";
        i += bestLength - 1;
        continue;
      }
      out += radix(pieces[i], 16);
      if (i < 7) out += ":";
    }
    return out;
  };

  const forbiddenHost = "\0\t\n\r #/:<>?@[\\]^|";

  const parseHost = (text, special) => {
    if (at(text, 0) === 91) {
      if (at(text, text.length - 1) !== 93) return null;
      const address = parseIpv6(slice(text, 1, text.length - 1));
      return address === null ? null : "[" + address + "]";
    }
    if (!special) {
      for (let i = 0; i < text.length; i++) if (indexOf(forbiddenHost, text[i]) >= 0) return null;
      return encode(text, C0);
    }
    const domain = decode(text);
    for (let i = 0; i < domain.length; i++) {
      if (charCode(domain, i) > 127) {
        throw new TypeErrorCtor(
          "Invalid URL: internationalised host names are not supported (" + host.quoteText(slice(domain, 0, 100)) + "); use the xn-- form",
        );
      }
    }
    for (let i = 0; i < domain.length; i++) {
      const c = charCode(domain, i);
      if (c <= 32 || c === 127 || c === 37 || indexOf(forbiddenHost, domain[i]) >= 0) return null;
    }
    if (domain === "") return null;
    const ascii = lower(domain);
    // Punycode is not decoded; only a label without any is known to be wrong.
    const labels = split(ascii, ".");
    for (let i = 0; i < labels.length; i++) if (labels[i] === "xn--") return null;
    return endsInNumber(ascii) ? parseIpv4(ascii) : ascii;
  };

  // --- the state machine ---

  const SCHEME_START = 1, SCHEME = 2, NO_SCHEME = 3, SPECIAL_RELATIVE_OR_AUTHORITY = 4,
    PATH_OR_AUTHORITY = 5, RELATIVE = 6, RELATIVE_SLASH = 7, SPECIAL_AUTHORITY_SLASHES = 8,
    SPECIAL_AUTHORITY_IGNORE_SLASHES = 9, AUTHORITY = 10, HOST = 11, HOSTNAME = 12, PORT = 13,
    FILE = 14, FILE_SLASH = 15, FILE_HOST = 16, PATH_START = 17, PATH_STATE = 18,
    OPAQUE_PATH = 19, QUERY_STATE = 20, FRAGMENT_STATE = 21;

  const singleDot = (s) => s === "." || lower(s) === "%2e";
  const doubleDot = (s) => {
    if (s === "..") return true;
    const l = s.length > 6 ? "" : lower(s);
    return l === ".%2e" || l === "%2e." || l === "%2e%2e";
  };
  const driveLetter = (s) => s.length === 2 && isAlpha(at(s, 0)) && (at(s, 1) === 58 || at(s, 1) === 124);
  const normalDrive = (s) => driveLetter(s) && at(s, 1) === 58;
  const startsWithDrive = (text, i) => {
    if (!isAlpha(at(text, i)) || (at(text, i + 1) !== 58 && at(text, i + 1) !== 124)) return false;
    const c = at(text, i + 2);
    return c === -1 || c === 47 || c === 92 || c === 63 || c === 35;
  };
  const shorten = (url) => {
    const { path } = url;
    if (url.scheme === "file" && path.length === 1 && normalDrive(path[0])) return;
    if (path.length > 0) path.length--;
  };
  const copyPath = (path) => {
    if (typeof path === "string") return path;
    const out = list();
    for (let i = 0; i < path.length; i++) out[i] = path[i];
    return out;
  };

  const newRecord = () => ({
    __proto__: null, scheme: "", username: "", password: "", host: null, port: null,
    path: list(), query: null, fragment: null,
  });

  const clean = (text, trim) => {
    let from = 0;
    let to = text.length;
    if (trim) {
      while (from < to && charCode(text, from) <= 32) from++;
      while (to > from && charCode(text, to - 1) <= 32) to--;
    }
    let out = "";
    let done = from;
    for (let i = from; i < to; i++) {
      const c = charCode(text, i);
      if (c === 9 || c === 10 || c === 13) {
        out += slice(text, done, i);
        done = i + 1;
      }
    }
    return out + slice(text, done, to);
  };

  // Gives the record, or null. With `override` (setters), null also stands for "nothing to do".
  const parse = (input, base, url, override) => {
    const text = clean(input, url === undefined);
    url ??= newRecord();
    let state = override ?? SCHEME_START;
    let buffer = "";
    let seenAt = false;
    let brackets = false;
    let passwordSeen = false;
    for (let i = 0; ; i++) {
      const c = at(text, i);
      switch (state) {
        case SCHEME_START:
          if (isAlpha(c)) {
            buffer = lower(text[i]);
            state = SCHEME;
          } else if (override === undefined) {
            state = NO_SCHEME;
            i--;
          } else return null;
          break;
        case SCHEME:
          if (isAlpha(c) || isDigit(c) || c === 43 || c === 45 || c === 46) {
            buffer += lower(text[i]);
          } else if (c === 58) {
            if (override !== undefined) {
              const toSpecial = ports[buffer] !== undefined;
              if (isSpecial(url) !== toSpecial) return null;
              if (buffer === "file" && (url.username !== "" || url.password !== "" || url.port !== null)) return null;
              if (url.scheme === "file" && url.host === "") return null;
              url.scheme = buffer;
              if (url.port === ports[url.scheme]) url.port = null;
              return url;
            }
            url.scheme = buffer;
            buffer = "";
            if (url.scheme === "file") state = FILE;
            else if (isSpecial(url)) {
              state = base !== null && base.scheme === url.scheme
                ? SPECIAL_RELATIVE_OR_AUTHORITY : SPECIAL_AUTHORITY_SLASHES;
            } else if (at(text, i + 1) === 47) {
              state = PATH_OR_AUTHORITY;
              i++;
            } else {
              url.path = "";
              state = OPAQUE_PATH;
            }
          } else if (override === undefined) {
            buffer = "";
            state = NO_SCHEME;
            i = -1;
          } else return null;
          break;
        case NO_SCHEME:
          if (base === null) return null;
          if (typeof base.path === "string") {
            if (c !== 35) return null;
            url.scheme = base.scheme;
            url.path = base.path;
            url.query = base.query;
            url.fragment = "";
            state = FRAGMENT_STATE;
          } else {
            state = base.scheme === "file" ? FILE : RELATIVE;
            i--;
          }
          break;
        case SPECIAL_RELATIVE_OR_AUTHORITY:
          if (c === 47 && at(text, i + 1) === 47) {
            state = SPECIAL_AUTHORITY_IGNORE_SLASHES;
            i++;
          } else {
            state = RELATIVE;
            i--;
          }
          break;
        case PATH_OR_AUTHORITY:
          if (c === 47) state = AUTHORITY;
          else {
            state = PATH_STATE;
            i--;
          }
          break;
        case RELATIVE:
          url.scheme = base.scheme;
          if (c === 47) state = RELATIVE_SLASH;
          else if (isSpecial(url) && c === 92) state = RELATIVE_SLASH;
          else {
            url.username = base.username;
            url.password = base.password;
            url.host = base.host;
            url.port = base.port;
            url.path = copyPath(base.path);
            url.query = base.query;
            if (c === 63) {
              url.query = "";
              state = QUERY_STATE;
            } else if (c === 35) {
              url.fragment = "";
              state = FRAGMENT_STATE;
            } else if (c !== -1) {
              url.query = null;
              shorten(url);
              state = PATH_STATE;
              i--;
            }
          }
          break;
        case RELATIVE_SLASH:
          if (isSpecial(url) && (c === 47 || c === 92)) state = SPECIAL_AUTHORITY_IGNORE_SLASHES;
          else if (c === 47) state = AUTHORITY;
          else {
            url.username = base.username;
            url.password = base.password;
            url.host = base.host;
            url.port = base.port;
            state = PATH_STATE;
            i--;
          }
          break;
        case SPECIAL_AUTHORITY_SLASHES:
          state = SPECIAL_AUTHORITY_IGNORE_SLASHES;
          if (c === 47 && at(text, i + 1) === 47) i++;
          else i--;
          break;
        case SPECIAL_AUTHORITY_IGNORE_SLASHES:
          if (c !== 47 && c !== 92) {
            state = AUTHORITY;
            i--;
          }
          break;
        case AUTHORITY:
          if (c === 64) {
            if (seenAt) buffer = "%40" + buffer;
            seenAt = true;
            let from = 0;
            if (!passwordSeen) {
              const colon = indexOf(buffer, ":");
              url.username += encode(colon < 0 ? buffer : slice(buffer, 0, colon), USERINFO);
              if (colon >= 0) {
                passwordSeen = true;
                from = colon + 1;
              }
            }
            if (passwordSeen) url.password += encode(slice(buffer, from), USERINFO);
            buffer = "";
          } else if (c === -1 || c === 47 || c === 63 || c === 35 || (isSpecial(url) && c === 92)) {
            if (seenAt && buffer === "") return null;
            i -= buffer.length + 1;
            buffer = "";
            state = HOST;
          } else buffer += text[i];
          break;
        case HOST:
        case HOSTNAME:
          if (override !== undefined && url.scheme === "file") {
            i--;
            state = FILE_HOST;
          } else if (c === 58 && !brackets) {
            if (buffer === "") return null;
            if (override === HOSTNAME) return null;
            const parsed = parseHost(buffer, isSpecial(url));
            if (parsed === null) return null;
            url.host = parsed;
            buffer = "";
            state = PORT;
          } else if (c === -1 || c === 47 || c === 63 || c === 35 || (isSpecial(url) && c === 92)) {
            i--;
            if (isSpecial(url) && buffer === "") return null;
            if (override !== undefined && buffer === ""
              && (url.username !== "" || url.password !== "" || url.port !== null)) return null;
            const parsed = parseHost(buffer, isSpecial(url));
            if (parsed === null) return null;
            url.host = parsed;
            buffer = "";
            state = PATH_START;
            if (override !== undefined) return url;
          } else {
            if (c === 91) brackets = true;
            if (c === 93) brackets = false;
            buffer += text[i];
          }
          break;
        case PORT:
          if (isDigit(c)) buffer += text[i];
          else if (c === -1 || c === 47 || c === 63 || c === 35 || (isSpecial(url) && c === 92)
            || override !== undefined) {
            if (buffer !== "") {
              const port = NumberOf(buffer);
              if (port > 65535) return null;
              url.port = port === ports[url.scheme] ? null : port;
              buffer = "";
              if (override !== undefined) return url;
            }
            if (override !== undefined) return null;
            state = PATH_START;
            i--;
          } else return null;
          break;
        case FILE:
          url.scheme = "file";
          url.host = "";
          if (c === 47 || c === 92) state = FILE_SLASH;
          else if (base !== null && base.scheme === "file") {
            url.host = base.host;
            url.path = copyPath(base.path);
            url.query = base.query;
            if (c === 63) {
              url.query = "";
              state = QUERY_STATE;
            } else if (c === 35) {
              url.fragment = "";
              state = FRAGMENT_STATE;
            } else if (c !== -1) {
              url.query = null;
              if (startsWithDrive(text, i)) url.path = list();
              else shorten(url);
              state = PATH_STATE;
              i--;
            }
          } else {
            state = PATH_STATE;
            i--;
          }
          break;
        case FILE_SLASH:
          if (c === 47 || c === 92) state = FILE_HOST;
          else {
            if (base !== null && base.scheme === "file") {
              url.host = base.host;
              if (!startsWithDrive(text, i) && base.path.length > 0 && normalDrive(base.path[0])) {
                url.path[0] = base.path[0];
              }
            }
            state = PATH_STATE;
            i--;
          }
          break;
        case FILE_HOST:
          if (c === -1 || c === 47 || c === 92 || c === 63 || c === 35) {
            i--;
            if (override === undefined && driveLetter(buffer)) state = PATH_STATE;
            else if (buffer === "") {
              url.host = "";
              if (override !== undefined) return url;
              state = PATH_START;
            } else {
              const parsed = parseHost(buffer, isSpecial(url));
              if (parsed === null) return null;
              url.host = parsed === "localhost" ? "" : parsed;
              if (override !== undefined) return url;
              buffer = "";
              state = PATH_START;
            }
          } else buffer += text[i];
          break;
        case PATH_START:
          if (isSpecial(url)) {
            state = PATH_STATE;
            if (c !== 47 && c !== 92) i--;
          } else if (override === undefined && c === 63) {
            url.query = "";
            state = QUERY_STATE;
          } else if (override === undefined && c === 35) {
            url.fragment = "";
            state = FRAGMENT_STATE;
          } else if (c !== -1) {
            state = PATH_STATE;
            if (c !== 47) i--;
          } else if (override !== undefined && url.host === null) {
            url.path[url.path.length] = "";
          }
          break;
        case PATH_STATE: {
          const slash = c === 47 || (isSpecial(url) && c === 92);
          if (c === -1 || slash || (override === undefined && (c === 63 || c === 35))) {
            buffer = encode(buffer, PATH);
            if (doubleDot(buffer)) {
              shorten(url);
              if (!slash) url.path[url.path.length] = "";
            } else if (singleDot(buffer)) {
              if (!slash) url.path[url.path.length] = "";
            } else {
              if (url.scheme === "file" && url.path.length === 0 && driveLetter(buffer)) {
                buffer = buffer[0] + ":";
              }
              url.path[url.path.length] = buffer;
            }
            buffer = "";
            if (c === 63) {
              url.query = "";
              state = QUERY_STATE;
            } else if (c === 35) {
              url.fragment = "";
              state = FRAGMENT_STATE;
            }
          } else buffer += text[i];
          break;
        }
        case OPAQUE_PATH:
          if (c === 63 || c === 35 || c === -1) {
            url.path = encode(buffer, C0);
            buffer = "";
            if (c === 63) {
              url.query = "";
              state = QUERY_STATE;
            } else if (c === 35) {
              url.fragment = "";
              state = FRAGMENT_STATE;
            }
          } else buffer += text[i];
          break;
        case QUERY_STATE:
          if ((override === undefined && c === 35) || c === -1) {
            url.query += encode(buffer, isSpecial(url) ? SPECIAL_QUERY : QUERY);
            buffer = "";
            if (c === 35) {
              url.fragment = "";
              state = FRAGMENT_STATE;
            }
          } else buffer += text[i];
          break;
        default:
          url.fragment += encode(slice(text, i), FRAGMENT);
          return url;
      }
      if (c === -1 && i >= text.length) return url;
    }
  };

  const pathText = (url) => {
    if (typeof url.path === "string") return url.path;
    return url.path.length === 0 ? "" : "/" + join(url.path, "/");
  };

  const serialize = (url) => {
    let out = url.scheme + ":";
    if (url.host !== null) {
      out += "//";
      if (url.username !== "" || url.password !== "") {
        out += url.username;
        if (url.password !== "") out += ":" + url.password;
        out += "@";
      }
      out += url.host;
      if (url.port !== null) out += ":" + url.port;
    } else if (typeof url.path !== "string" && url.path.length > 1 && url.path[0] === "") {
      out += "/.";
    }
    out += pathText(url);
    if (url.query !== null) out += "?" + url.query;
    return url.fragment === null ? out : out + "#" + url.fragment;
  };

  host.url = {
    __proto__: null,
    parse, serialize, pathText, isSpecial, encode, decode, split,
    sets: { __proto__: null, USERINFO, FORM, C0 },
    states: {
      __proto__: null,
      SCHEME_START, HOST, HOSTNAME, PORT, PATH_START, QUERY_STATE, FRAGMENT_STATE,
    },
  };
})
