// Timers over the host's queue. They wait while the cell is parked and do not keep it alive.
(function (host, def) {
  "use strict";
  const { uncurry } = host.base;
  const { schedule, cancel } = host;
  const { apply } = Reflect;
  const TypeErrorCtor = TypeError;
  const NumberOf = Number;
  const timers = new Map();
  const mapGet = uncurry(Map.prototype.get);
  const mapSet = uncurry(Map.prototype.set);
  const mapDelete = uncurry(Map.prototype.delete);

  const MAX_DELAY = 2147483647;
  let last = 0;

  // As in browsers and node: what is no positive number of 31 bits means "as soon as possible".
  const delayOf = (value) => {
    const ms = NumberOf(value);
    return ms >= 1 && ms <= MAX_DELAY ? ms : 1;
  };

  const start = (name, callback, delay, args, repeats) => {
    if (typeof callback !== "function") {
      throw new TypeErrorCtor(name + ": the callback must be a function");
    }
    const id = ++last;
    const ms = delayOf(delay);
    const fire = () => {
      if (!repeats) mapDelete(timers, id);
      else mapSet(timers, id, schedule(ms, fire));
      apply(callback, undefined, args);
    };
    mapSet(timers, id, schedule(ms, fire));
    return id;
  };

  const stop = (id) => {
    // clearTimeout takes anything; also the text of an id, as in browsers.
    if (typeof id === "string") id = NumberOf(id);
    const scheduled = mapGet(timers, id);
    if (scheduled === undefined) return;
    mapDelete(timers, id);
    cancel(scheduled);
  };

  const functions = {
    setTimeout(callback, delay, ...args) { return start("setTimeout", callback, delay, args, false); },
    setInterval(callback, delay, ...args) { return start("setInterval", callback, delay, args, true); },
    clearTimeout(id) { stop(id); },
    clearInterval(id) { stop(id); },
  };
  def("setTimeout", functions.setTimeout);
  def("setInterval", functions.setInterval);
  def("clearTimeout", functions.clearTimeout);
  def("clearInterval", functions.clearInterval);
})
