// Small corrections of what the engine brings along.
(function (host, def) {
  "use strict";
  const { method, uncurry } = host.base;
  const { now, monotonic } = host;

  // The engine's own counts from the making of the template. This one counts from its first use
  // and goes on through a suspension.
  let origin;
  let start;
  const begin = () => {
    if (origin !== undefined) return;
    origin = now();
    start = monotonic();
  };
  const performance = {};
  method(performance, "now", { now() {
    begin();
    return monotonic() - start;
  } }.now);
  Object.defineProperty(performance, "timeOrigin", {
    get: { timeOrigin() {
      begin();
      return origin;
    } }.timeOrigin,
    enumerable: true,
    configurable: true,
  });
  Object.defineProperty(performance, Symbol.toStringTag, { value: "Performance", configurable: true });
  def("performance", performance);

  // The one of the C library is off by a bit for many numbers, 27 among them. One step more, from
  // a root of half as many bits, whose square is exact, is as good as other engines.
  const { cbrt, abs, fround } = Math;
  Math.cbrt = { cbrt(x) {
    const root = cbrt(x);
    const size = abs(root);
    if (!(size > 1e-30 && size < 1e30)) return root;
    const half = fround(root);
    const other = x / (half * half);
    return half + (half * (other - half)) / (half + half + other);
  } }.cbrt;

  // The engine gives its error no message.
  const { hasOwn, defineProperty } = Object;
  const PromiseOf = Promise;
  const Aggregate = AggregateError;
  const any = uncurry(Promise.any);
  const then = uncurry(Promise.prototype.then);
  const explain = (error) => {
    if (error instanceof Aggregate && !hasOwn(error, "message")) {
      defineProperty(error, "message", {
        __proto__: null, value: "All promises were rejected", writable: true, configurable: true,
      });
    }
    throw error;
  };
  PromiseOf.any = { any(promises) {
    const first = any(this, promises);
    return this === PromiseOf ? then(first, undefined, explain) : first;
  } }.any;
})
