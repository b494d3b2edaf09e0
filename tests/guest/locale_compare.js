// @title names sort as people sort them
// @req gst.2
// @expect {"status": "completed", "value": [["Äpfel", "apple", "Banana", "cherry"], ["f2", "f10"]]}
// ---
return [
  ["cherry", "Banana", "apple", "Äpfel"].sort((a, b) => a.localeCompare(b)),
  ["f10", "f2"].sort((a, b) => a.localeCompare(b, undefined, { numeric: true })),
];
