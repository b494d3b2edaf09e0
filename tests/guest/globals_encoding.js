// @title text and bytes
// @req gst.2
// @expect {"status": "completed", "value": [[195, 169], "é", "aGk=", "hi", "TypeError"]}
// ---
const bytes = new TextEncoder().encode("é");
let name;
try { new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([255])); } catch (e) { name = e.name; }
return [bytes, new TextDecoder().decode(bytes), btoa("hi"), atob("aGk="), name];
