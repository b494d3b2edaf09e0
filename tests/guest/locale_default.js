// @title without a locale as en-US in UTC
// @req gst.2
// @expect {"status": "completed", "value": ["1,234,567.5", "1/1/1970", "12:00:00 AM", "1/1/1970, 12:00:00 AM", "$1,234.50", "45.6%", "January 5, 2024"]}
// ---
const d = new Date(0);
return [
  (1234567.5).toLocaleString(), d.toLocaleDateString(), d.toLocaleTimeString("en-US"), d.toLocaleString(),
  (1234.5).toLocaleString("en-US", { style: "currency", currency: "USD" }),
  (0.456).toLocaleString(undefined, { style: "percent", minimumFractionDigits: 1 }),
  new Date("2024-01-05").toLocaleDateString("en-US", { year: "numeric", month: "long", day: "numeric" }),
];
