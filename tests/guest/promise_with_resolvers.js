// @title resolvers settled by a timer
// @req gst.2
// @expect {"status": "completed", "value": "resolved"}
// ---
const { promise, resolve } = Promise.withResolvers();
setTimeout(() => resolve("resolved"), 5);
return await promise;
