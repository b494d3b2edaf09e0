// Date.prototype.toLocale*String: en-US, always UTC, with the common options.
(function (host, def) {
  "use strict";
  const { uncurry } = host.base;
  const { checkLocale, readOptions, oneOf, refuse, install } = host.locale;
  const StringOf = String;
  const lower = uncurry(String.prototype.toLowerCase);
  const get = (name) => uncurry(Date.prototype[name]);
  const time = get("getTime");
  const fullYear = get("getUTCFullYear");
  const month = get("getUTCMonth");
  const date = get("getUTCDate");
  const weekday = get("getUTCDay");
  const hours = get("getUTCHours");
  const minutes = get("getUTCMinutes");
  const seconds = get("getUTCSeconds");
  const slice = uncurry(String.prototype.slice);

  const days = {
    __proto__: null,
    0: "Sunday", 1: "Monday", 2: "Tuesday", 3: "Wednesday", 4: "Thursday", 5: "Friday",
    6: "Saturday",
  };
  const months = {
    __proto__: null,
    0: "January", 1: "February", 2: "March", 3: "April", 4: "May", 5: "June", 6: "July",
    7: "August", 8: "September", 9: "October", 10: "November", 11: "December",
  };

  const plain = oneOf("numeric", "2-digit");
  const known = {
    __proto__: null,
    weekday: oneOf("long", "short"),
    year: plain,
    month: oneOf("numeric", "2-digit", "long", "short"),
    day: plain,
    hour: plain,
    minute: plain,
    second: plain,
    hour12: (value) => !!value,
    hourCycle: oneOf("h12", "h23"),
    dateStyle: oneOf("full", "long", "medium", "short"),
    timeStyle: oneOf("medium", "short"),
    timeZone(value, what) {
      const name = lower(StringOf(value));
      return name === "utc" || name === "gmt" || name === "etc/utc" ? "UTC"
        : refuse(what, "timeZone: " + StringOf(value));
    },
    timeZoneName: oneOf("short"),
    calendar: oneOf("gregory"),
    numberingSystem: oneOf("latn"),
    localeMatcher: oneOf("best fit", "lookup"),
  };

  const two = (n) => (n < 10 ? "0" + n : StringOf(n));
  const number = (style, n) => (style === "2-digit" ? two(n % 100) : StringOf(n));
  const word = (style, name) => (style === "short" ? slice(name, 0, 3) : name);

  const styles = {
    __proto__: null,
    full: { __proto__: null, weekday: "long", month: "long", day: "numeric", year: "numeric" },
    long: { __proto__: null, month: "long", day: "numeric", year: "numeric" },
    medium: { __proto__: null, month: "short", day: "numeric", year: "numeric" },
    short: { __proto__: null, month: "numeric", day: "numeric", year: "2-digit" },
  };

  const dateText = (what, d, o) => {
    const signed = fullYear(d);
    const year = signed <= 0 ? 1 - signed : signed;
    const day = o.day === undefined ? "" : number(o.day, date(d));
    const yearText = o.year === undefined ? "" : number(o.year, year);
    const name = o.weekday === undefined ? "" : word(o.weekday, days[weekday(d)]);
    if (o.month === undefined) {
      if (name !== "" && day !== "" && yearText === "") return day + " " + name;
      if ((name !== "") + (day !== "") + (yearText !== "") > 1) {
        refuse(what, "a date without a month");
      }
      return name + day + yearText;
    }
    if (name !== "" && day === "") refuse(what, "weekday without day");
    const head = name === "" ? "" : name + ", ";
    if (o.month === "numeric" || o.month === "2-digit") {
      let out = number(o.month, month(d) + 1);
      if (day !== "") out += "/" + day;
      if (yearText !== "") out += "/" + yearText;
      return head + out;
    }
    const monthText = word(o.month, months[month(d)]);
    if (day === "") return yearText === "" ? monthText : monthText + " " + yearText;
    return head + monthText + " " + day + (yearText === "" ? "" : ", " + yearText);
  };

  const timeText = (what, d, o) => {
    const half = o.hour12 ?? (o.hourCycle === undefined || o.hourCycle === "h12");
    const h = hours(d);
    const shown = half ? h % 12 || 12 : h;
    let out;
    if (o.hour === undefined) {
      if (o.minute !== undefined && o.second !== undefined) return two(minutes(d)) + ":" + two(seconds(d));
      return o.minute === undefined ? StringOf(seconds(d)) : StringOf(minutes(d));
    }
    out = o.hour === "2-digit" || !half ? two(shown) : StringOf(shown);
    if (o.minute !== undefined) out += ":" + two(minutes(d));
    if (o.second !== undefined) {
      if (o.minute === undefined) refuse(what, "second without minute");
      out += ":" + two(seconds(d));
    }
    return half ? out + " " + (h < 12 ? "AM" : "PM") : out;
  };

  const format = (what, d, locales, given, wantDate, wantTime) => {
    const t = time(d);
    checkLocale(what, locales);
    const o = readOptions(what, given, known);
    if (t !== t) return "Invalid Date";
    const style = o.dateStyle !== undefined || o.timeStyle !== undefined;
    const anyDate = o.weekday ?? o.year ?? o.month ?? o.day;
    const anyTime = o.hour ?? o.minute ?? o.second;
    if (style) {
      if (anyDate !== undefined || anyTime !== undefined) refuse(what, "dateStyle with single fields");
      if ((o.dateStyle !== undefined && !wantDate) || (o.timeStyle !== undefined && !wantTime)) {
        refuse(what, o.dateStyle !== undefined && !wantDate ? "dateStyle" : "timeStyle");
      }
      if (o.timeStyle !== undefined) {
        o.hour = o.minute = "numeric";
        if (o.timeStyle === "medium") o.second = "numeric";
      }
    } else {
      // Without fields of its own kind a method shows its usual ones.
      const missing = wantDate && wantTime ? anyDate === undefined && anyTime === undefined
        : wantDate ? anyDate === undefined : anyTime === undefined;
      if (missing && wantDate) o.year = o.month = o.day = "numeric";
      if (missing && wantTime) o.hour = o.minute = o.second = "numeric";
    }
    const fields = o.dateStyle === undefined ? o : styles[o.dateStyle];
    const hasDate = (fields.weekday ?? fields.year ?? fields.month ?? fields.day) !== undefined;
    const hasTime = (o.hour ?? o.minute ?? o.second) !== undefined;
    let out = hasDate ? dateText(what, d, fields) : "";
    if (hasTime) {
      const long = o.dateStyle === "full" || o.dateStyle === "long" || (!style && o.month === "long");
      const dayOnly = hasDate && (fields.year ?? fields.month ?? fields.day) === undefined;
      const gap = !hasDate ? "" : long ? " at " : dayOnly && o.hour !== undefined ? " " : ", ";
      out += gap + timeText(what, d, o);
    }
    if (o.timeZoneName !== undefined) out += hasTime ? " UTC" : ", UTC";
    return out;
  };

  install(Date.prototype, {
    toLocaleString(locales = undefined, options = undefined) {
      return format("Date.toLocaleString", this, locales, options, true, true);
    },
    toLocaleDateString(locales = undefined, options = undefined) {
      return format("Date.toLocaleDateString", this, locales, options, true, false);
    },
    toLocaleTimeString(locales = undefined, options = undefined) {
      return format("Date.toLocaleTimeString", this, locales, options, false, true);
    },
  });
})
