// @title a report in text
// @req gst.3 exe.11
// @expect {"status": "completed", "value": 3, "output": ["| id | port |\n| --- | --- |\n| S2 | Rotterdam |\n| S4 | Hamburg |\n| S5 | Antwerp |"]}
// ---
const ports = ["Rotterdam", "Hamburg", "Antwerp"];
const lists = await Promise.all(ports.map((port) => tools.list_shipments({ port })));
const late = lists.flat().filter((s) => s.status !== "arrived");
text(["| id | port |", "| --- | --- |", ...late.map((s) => `| ${s.id} | ${s.port} |`)].join("\n"));
return late.length;
