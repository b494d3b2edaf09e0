// @title a host name outside of ASCII is refused instead of wrong
// @req gst.2
// @expect {"status": "completed", "value": true}
// ---
try {
  return new URL("https://münchen.test/").host;
} catch (e) {
  return e instanceof TypeError && /xn--/.test(e.message);
}
