// Rows as CSV (RFC 4180), as the engine writes them.

/** What a spreadsheet would take for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** @param {unknown} value */
function cell(value) {
    if (value === null || value === undefined) return "";
    if (typeof value !== "string") return String(value);
    const text = FORMULA.test(value) ? `'${value}` : value;
    return /[",;\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @param {readonly string[]} columns @param {Iterable<Record<string, unknown>>} rows */
export function csv(columns, rows) {
    const lines = [columns.map(cell).join(",")];
    for (const row of rows) lines.push(columns.map((column) => cell(row[column])).join(","));
    return `${lines.join("\r\n")}\r\n`;
}

/** Saves a text as a file. @param {string} name @param {string | Blob} text */
export function download(name, text, type = "text/csv;charset=utf-8") {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
