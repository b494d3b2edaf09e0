// Small corrections of what the engine brings along.
(function (host, def) {
  "use strict";
  const { method } = host.base;
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
})
