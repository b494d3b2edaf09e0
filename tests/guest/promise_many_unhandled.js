// @title more rejections in one turn than are remembered, some of them never handled
// @req exe.12
// @expect {"status": "completed", "value": 1, "warnings": ["unhandled rejection", "unhandled rejections: 5 more"]}
// ---
for (let i = 0; i < 69; i++) Promise.reject("lost");
const seen = Array.from({ length: 30 }, () => Promise.reject("seen"));
await Promise.allSettled(seen);
return 1;
