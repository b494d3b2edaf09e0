// @title a fence inside a template is text
// @req exe.5
// @expect {"status": "completed", "value": "```js\ncode\n```"}
// ---
return `\`\`\`js
code
\`\`\``;
