// @title an interval fires until it is cleared
// @req gst.2
// @expect {"status": "completed", "value": 3}
// ---
let n = 0;
await new Promise((resolve) => {
  const id = setInterval(() => {
    if (++n === 3) {
      clearInterval(id);
      resolve();
    }
  }, 3);
});
return n;
