/** Entries of lists, matrices and tables: added, removed, renumbered, filled from a spreadsheet. */

/** @typedef {HTMLInputElement | HTMLSelectElement} Control */

/** What one entry of a field is, and what holds the entries. */
const SHAPES = Object.freeze({
  vector: { holder: ".entries", entry: ":scope > .entry" },
  matrix: { holder: ".grid", entry: ":scope > .grid-row" },
  table: { holder: "tbody", entry: ":scope > tr" },
});

/** @param {Element} field */
function shape(field) {
  const kind = /** @type {keyof typeof SHAPES} */ (field.getAttribute("data-kind"));
  return SHAPES[kind];
}

/** @param {Element} field */
function holderOf(field) {
  return /** @type {HTMLElement} */ (field.querySelector(shape(field).holder));
}

/** @param {Element} field @returns {HTMLElement[]} */
function entriesOf(field) {
  return [...holderOf(field).querySelectorAll(shape(field).entry)].map((entry) => /** @type {HTMLElement} */ (entry));
}

/** @param {Element} row */
function cellsOf(row) {
  return /** @type {HTMLElement[]} */ ([...row.querySelectorAll(":scope > [name]")]);
}

/** Replace the last numbers of a label by `numbers`. @param {string} label @param {string[]} numbers */
function renumberLabel(label, numbers) {
  const parts = label.split(/(\d+)/);
  let left = numbers.length;
  for (let at = parts.length - 2; at > 0 && left > 0; at -= 2) {
    left -= 1;
    parts[at] = numbers[left] ?? "";
  }
  return parts.join("");
}

/** Names and labels after the shape has changed. @param {Element} field */
function renumber(field) {
  const name = field.getAttribute("data-field") ?? "";
  const kind = field.getAttribute("data-kind");
  entriesOf(field).forEach((entry, i) => {
    [...entry.querySelectorAll("[data-index]")].forEach((control, j) => {
      const element = /** @type {Control} */ (control);
      const column = (element.dataset["index"] ?? "").split(",")[1] ?? "";
      element.name = name;
      element.dataset["index"] = kind === "vector" ? String(i) : kind === "matrix" ? `${i},${j}` : `${i},${column}`;
      const label = element.getAttribute("aria-label") ?? "";
      const numbers = kind === "matrix" ? [String(i), String(j)] : [String(i)];
      // A table's label ends with its column's name, which may hold digits of its own.
      element.setAttribute("aria-label", kind === "table" ? label.replace(/\d+/, String(i)) : renumberLabel(label, numbers));
      element.removeAttribute("aria-invalid");
    });
  });
}

/** @param {Element} field @param {number} count */
function fitRows(field, count) {
  const holder = holderOf(field);
  const rows = entriesOf(field);
  for (const row of rows.slice(count)) row.remove();
  const last = rows.at(-1) ?? borrowed(field);
  if (!last) return;
  for (let i = rows.length; i < count; i += 1) holder.append(last.cloneNode(true));
}

/** A first entry for a list that had none, from a list of the same kind. @param {Element} field */
function borrowed(field) {
  const kind = field.getAttribute("data-kind");
  const others = [...(field.parentElement?.querySelectorAll(`[data-kind=${kind}]`) ?? [])];
  const other = others.find((item) => item !== field && entriesOf(item).length > 0);
  const copy = /** @type {HTMLElement | undefined} */ (other && entriesOf(other)[0]?.cloneNode(true));
  const own = field.querySelector("legend")?.textContent ?? "";
  const foreign = other?.querySelector("legend")?.textContent ?? "";
  for (const control of copy?.querySelectorAll("[aria-label]") ?? []) {
    control.setAttribute("aria-label", (control.getAttribute("aria-label") ?? "").replace(foreign, own));
  }
  return copy;
}

/** @param {HTMLElement} row @param {number} count */
function fitCells(row, count) {
  const cells = cellsOf(row);
  for (const cell of cells.slice(Math.max(count, 1))) cell.remove();
  const last = cells.at(-1);
  for (let j = cells.length; last && j < count; j += 1) cellsOf(row).at(-1)?.after(last.cloneNode(true));
}

/** Give the field as many entries as `value` has. @param {Element} field @param {any[]} value */
export function fitEntries(field, value) {
  fitRows(field, value.length);
  if (field.getAttribute("data-kind") === "matrix") {
    entriesOf(field).forEach((row, i) => fitCells(row, value[i]?.length ?? 0));
  }
  renumber(field);
}

/** The sizes of a field's rows, or its length. @param {Element} field */
function sizes(field) {
  return entriesOf(field).map((row) => cellsOf(row).length);
}

/** @param {Element} field @param {number[]} rows */
function fitSizes(field, rows) {
  fitEntries(field, rows.map((length) => ({ length })));
}

/**
 * Add or remove what the pressed button stands for, within the schema's bounds. Returns whether
 * anything changed.
 * @param {HTMLElement} button @param {import("./codec.js").Schema} schema plain schema of the field
 */
export function reshape(button, schema) {
  const field = button.closest("[data-field]");
  if (!field) return false;
  const change = button.dataset["shape"] === "add" ? 1 : -1;
  const row = button.closest(".grid-row");
  const rows = sizes(field);
  if (row) {
    const at = entriesOf(field).indexOf(/** @type {HTMLElement} */ (row));
    const { minItems = 1, maxItems = 16 } = schema["items"];
    const wanted = (rows[at] ?? 0) + change;
    if (wanted < Math.max(minItems, 1) || wanted > maxItems) return false;
    rows.forEach((length, i) => {
      if (i === at || schema["x-ragged"] === false) rows[i] = length + change;
    });
  } else {
    const wanted = rows.length + change;
    if (wanted < Math.max(schema["minItems"] ?? 1, 1) || wanted > (schema["maxItems"] ?? 16)) return false;
    if (change < 0) rows.pop();
    else rows.push(rows.at(-1) ?? 1);
  }
  fitSizes(field, rows);
  return true;
}

/** Give `field` the shape of `model`, entries beyond the old ones repeating the last. @param {Element} field @param {Element} model */
export function follow(field, model) {
  fitSizes(field, sizes(model));
}

/**
 * Give every row `length` cells; in a table that is the number of entries of its list cells.
 * @param {Element} field @param {number} length
 */
export function setRowLength(field, length) {
  if (field.getAttribute("data-kind") === "matrix") fitSizes(field, sizes(field).map(() => length));
  const lists = /** @type {NodeListOf<HTMLInputElement>} */ (field.querySelectorAll("[data-part=list]"));
  for (const box of lists) {
    const items = box.value.split(",").map((item) => item.trim());
    const padded = Array.from({ length }, (_, i) => items[i] ?? "");
    box.value = padded.join(", ");
  }
}

/** Numbers of a pasted block: rows by line, cells by tab (or comma, semicolon, space). @param {string} text */
export function parseBlock(text) {
  const lines = text.replace(/\r/g, "").split("\n").filter((line) => line.trim());
  return lines.map((line) => line.split(line.includes("\t") ? "\t" : /[;,\s]+/).map((cell) => cell.trim()).filter(Boolean));
}

/**
 * Fill a block from the cell `target` on, growing the field within `limits`; false when the text
 * is one cell, which the browser pastes itself.
 * @param {Control} target @param {string} text @param {import("./codec.js").Schema} schema
 */
export function pasteBlock(target, text, schema) {
  const field = target.closest("[data-field]");
  const block = parseBlock(text);
  if (!field || !target.dataset["index"] || block.flat().length < 2) return false;
  const isMatrix = field.getAttribute("data-kind") === "matrix";
  if (!isMatrix && field.getAttribute("data-kind") !== "vector") return false;
  const [row = 0, column = 0] = target.dataset["index"].split(",").map(Number);
  const cells = isMatrix ? block : block.flat().map((cell) => [cell]);
  const rows = sizes(field);
  const mostRows = schema["maxItems"] ?? 16;
  const mostCells = isMatrix ? schema["items"]["maxItems"] ?? 16 : 1;
  cells.slice(0, mostRows - row).forEach((line, i) => {
    rows[row + i] = Math.max(rows[row + i] ?? 0, Math.min(column + line.length, mostCells));
  });
  fitSizes(field, rows);
  cells.forEach((line, i) => line.forEach((cell, j) => {
    const index = isMatrix ? `${row + i},${column + j}` : String(row + i);
    const found = field.querySelector(`[data-index="${index}"]:not([data-part=slider])`);
    if (found) /** @type {HTMLInputElement} */ (found).value = cell.replace("\u2212", "-");
  }));
  return true;
}
