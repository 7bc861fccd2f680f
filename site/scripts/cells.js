/** Entries of lists, matrices and tables: added, removed, renumbered, filled from a spreadsheet. */

import { parseEntry, plainSchema } from "./codec.js";
import { readings } from "./numbers.js";

/** @typedef {HTMLInputElement | HTMLSelectElement} Control */
/** @typedef {import("./codec.js").Schema} Schema */
/**
 * What became of a pasted text: a cell that is no number, with what it may mean, or how many cells
 * there were and how many of them found no place.
 * @typedef {{isFilled: boolean, wrong?: string, readings?: number[], total?: number, left?: number, rows?: number, columns?: number}} Pasted
 */

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

/** The last entry of each field, for when a link has left none. @type {WeakMap<Element, HTMLElement>} */
const spares = new WeakMap();

/** @param {Element} field @param {number} count */
function fitRows(field, count) {
  const holder = holderOf(field);
  const rows = entriesOf(field);
  const spare = rows.at(-1);
  if (spare) spares.set(field, spare);
  for (const row of rows.slice(count)) row.remove();
  const last = spares.get(field) ?? borrowed(field);
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
 * @param {HTMLElement} button @param {Schema} schema plain schema of the field
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

/** A cell as a spreadsheet quotes it. @param {string} cell */
function unquoted(cell) {
  return cell.trim().replace(/^"(.*)"$/, "$1").trim();
}

/**
 * The cells of one pasted line: by tab, else by semicolon where numbers with commas lie between,
 * else by comma, semicolon or space. A narrow space or one that does not break is part of a number.
 * @param {string} line
 */
function cellsOfLine(line) {
  if (line.includes("\t")) return line.replace(/\t+$/, "").split("\t").map(unquoted);
  const parts = line.split(/[;；]/).map(unquoted);
  if (parts.length > 1 && parts.every((part) => readings(part).length > 0)) return parts;
  return line.split(/[;,；，、 \u3000]+/).map(unquoted).filter(Boolean);
}

/**
 * Cells of a pasted block, rows by line. In a column a line that is a number is one cell, whatever
 * its commas: decimal commas are usual in spreadsheets.
 * @param {string} text @param {boolean} isColumn
 */
export function parseBlock(text, isColumn) {
  const lines = text.split(/\r?\n|\r/).filter((line) => line.trim());
  const isNumber = (/** @type {string} */ line) => isColumn && lines.length > 1 && readings(unquoted(line)).length > 0;
  return lines.map((line) => (isNumber(line) ? [unquoted(line)] : cellsOfLine(line)));
}

/** What `cell` puts into a box for `schema`; undefined where that is no number or not one only. @param {string} cell @param {Schema} schema */
function entryFor(cell, schema) {
  const found = readings(cell);
  // 1,234 in a box for whole numbers is one.
  const meant = found.length > 1 && plainSchema(schema)["type"] === "integer" ? found.filter(Number.isInteger) : found;
  if (meant.length === 1) return String(meant[0]);
  const special = parseEntry(cell);
  return schema["anyOf"]?.some((/** @type {Schema} */ item) => item["enum"]?.includes(special)) ? String(special) : undefined;
}

/**
 * Fill the box `target` and, in a list or matrix, those behind it from a pasted text, growing the
 * field within its limits; nothing is filled where one of its cells is no number. Undefined when
 * the browser does as well.
 * @param {HTMLInputElement} target @param {string} text @param {Schema} schema
 * @returns {Pasted | undefined}
 */
export function pasteBlock(target, text, schema) {
  const field = target.closest("[data-field]");
  const kind = field?.getAttribute("data-kind");
  if (!field || /^[\d.e+-]*$/i.test(text) || (kind !== "number" && kind !== "vector" && kind !== "matrix")) return undefined;
  const [isMatrix, isOne] = [kind === "matrix", kind === "number"];
  const plain = plainSchema(schema);
  const [row = 0, column = 0] = (target.dataset["index"] ?? "").split(",").map(Number);
  const rows = isOne ? [] : sizes(field);
  const mostRows = isOne ? 1 : plain["maxItems"] ?? 16;
  const mostCells = isMatrix ? plain["items"]["maxItems"] ?? 16 : 1;
  const block = isOne ? [[text.trim()]] : parseBlock(text, !isMatrix);
  // What has no place is cut here: a whole spreadsheet would be looked up cell by cell.
  const cells = (isMatrix ? block : block.flat().map((cell) => [cell]))
    .slice(0, Math.max(mostRows - row, 0)).map((line) => line.slice(0, Math.max(mostCells - column, 0)));
  const item = isOne ? schema : isMatrix ? plain["items"]["items"] : plain["items"];
  const entries = cells.map((line) => line.map((cell) => entryFor(cell, item)));
  const wrong = cells.flat()[entries.flat().indexOf(undefined)];
  if (wrong !== undefined) return { isFilled: false, wrong, readings: readings(wrong) };
  entries.forEach((line, i) => {
    rows[row + i] = Math.max(rows[row + i] ?? 0, column + line.length);
  });
  if (!isOne) fitSizes(field, rows);
  entries.forEach((line, i) => line.forEach((entry, j) => {
    const index = isMatrix ? `${row + i},${column + j}` : String(row + i);
    const found = isOne ? target : field.querySelector(`[data-index="${index}"]:not([data-part=slider])`);
    if (found) /** @type {HTMLInputElement} */ (found).value = entry ?? "";
  }));
  const total = block.flat().length;
  return { isFilled: total > 0, total, left: total - entries.flat().length, rows: mostRows, columns: mostCells };
}
