/** The tables of a result as CSV (RFC 4180) and everything of it as JSON. */

/** @typedef {{key: string, title: string, columns: string[], rows: any[][]}} Table */

/** @param {any} cell */
function csvCell(cell) {
  const text = cell === null || cell === undefined ? "" : Array.isArray(cell) ? cell.join(" ") : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @param {Table} table */
export function tableCsv({ columns, rows }) {
  return [columns, ...rows].map((row) => `${row.map(csvCell).join(",")}\r\n`).join("");
}

/** `csv` as a file: Excel takes Chinese words for UTF-8 only behind a byte order mark. @param {string} csv */
export function csvFile(csv) {
  return /[^\0-\x7f]/.test(csv) ? `\ufeff${csv}` : csv;
}

/** @param {string} calculator @param {any} answer */
export function resultJson(calculator, { inputs, values, notices, tables }) {
  return `${JSON.stringify({ calculator, inputs, values, notices, tables }, null, 2)}\n`;
}

/** The tables that stand in the page, for when Python cannot be asked. @param {Element} region @returns {Table[]} */
export function tablesInPage(region) {
  return [...region.querySelectorAll("table[data-table]")].map((table) => ({
    key: table.getAttribute("data-table") ?? "",
    title: table.querySelector("caption")?.textContent ?? "",
    columns: [...table.querySelectorAll("thead th")].map((head) => head.textContent ?? ""),
    rows: [...table.querySelectorAll("tbody tr")].map((row) =>
      [...row.children].map((cell) => cell.querySelector("data")?.value ?? cell.textContent ?? ""),
    ),
  }));
}

/** Hand `text` to the reader as a file. @param {string} name @param {string} text @param {string} type */
export function download(name, text, type) {
  const anchor = document.createElement("a");
  anchor.href = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 10_000);
}
