/**
 * A calculator's state in the address: `#ledger?counts=4,8` (lists with commas, rows of a matrix
 * with semicolons, tables of records as JSON). Only what differs from the place's own inputs is
 * written. Calculators of one page are joined by `+`.
 */

import { readings } from "./numbers.js";

/** @typedef {Record<string, any>} Inputs */
/** @typedef {Record<string, any>} Schema one property of a calculator's JSON Schema */

/** The schema without its null and special alternatives. @param {Schema} schema @returns {Schema} */
export function plainSchema(schema) {
  return schema["anyOf"]?.find((/** @type {Schema} */ item) => item["type"] !== "null") ?? schema;
}

/** @param {Schema} schema */
export function isNullable(schema) {
  return Boolean(schema["anyOf"]?.some((/** @type {Schema} */ item) => item["type"] === "null"));
}

/** @param {Schema} schema */
export function isNumber(schema) {
  return ["number", "integer"].includes(plainSchema(schema)["type"]);
}

/** How a property is spelled. @param {Schema} schema @returns {"number"|"flag"|"text"|"list"|"matrix"|"json"} */
function spelling(schema) {
  const plain = plainSchema(schema);
  if (isNumber(plain)) return "number";
  if (plain["type"] === "boolean") return "flag";
  if (plain["type"] === "string") return "text";
  const items = plainSchema(plain["items"] ?? {});
  if (isNumber(items) || items["type"] === "string") return "list";
  return items["type"] === "array" && isNumber(items["items"]) ? "matrix" : "json";
}

const SPECIAL = /^([+\-\u2212]?)(?:(inf|infinity|\u221e)|nan)$/i;

/** A typed or linked entry as JSON: a number if it is one and only one, null for nothing, else the text. @param {string} text */
export function parseEntry(text) {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed === "null") return null;
  const [special, sign = "", infinity] = SPECIAL.exec(trimmed) ?? [];
  if (special) return infinity ? `${/[-\u2212]/.test(sign) ? "-" : ""}inf` : "nan";
  // A link cut in the middle of a character ends with a percent sign, and is no hundredth of a number.
  const found = trimmed.endsWith("%") ? [] : readings(trimmed);
  // What no double holds is left as it stands: as JSON it would be null, which may be a value.
  return found.length === 1 ? found[0] : trimmed;
}

/** @param {unknown} value */
function spellItem(value) {
  return encodeURIComponent(value === null ? "null" : String(value));
}

/** @param {any} value @param {Schema} schema */
function spell(value, schema) {
  if (value === null) return "null";
  const kind = spelling(schema);
  if (kind === "list") return value.map(spellItem).join(",");
  if (kind === "matrix") return value.map((/** @type {any[]} */ row) => row.map(spellItem).join(",")).join(";");
  return kind === "json" ? encodeURIComponent(JSON.stringify(value)) : spellItem(value);
}

/** A piece of an address as it was meant; with a stray % in it, as it stands. @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // Whatever it belongs to says that it has no such value, or no such name.
  }
}

/**
 * How much of a list is read, one more than it may have at most: enough for Python to say that
 * there are too many, and no more than the page can draw.
 * @param {Schema} schema @returns {number | undefined} split takes Infinity for none at all
 */
function mostRead({ maxItems }) {
  return maxItems === undefined ? undefined : maxItems + 1;
}

/** @param {string} text @param {string} separator @param {Schema} schema */
function pieces(text, separator, schema) {
  return text === "" ? [] : text.split(separator, mostRead(schema));
}

/** @param {string} text @param {Schema} schema */
function readList(text, schema) {
  const isText = plainSchema(schema["items"])["type"] === "string";
  return pieces(text, ",", schema).map((item) => (isText ? decode(item) : parseEntry(decode(item))));
}

/** @param {string} text @param {Schema} schema @returns {any} */
function read(text, schema) {
  if (text === "null") return null;
  const kind = spelling(schema);
  const listed = plainSchema(schema);
  if (kind === "list") return readList(text, listed);
  if (kind === "matrix") return pieces(text, ";", listed).map((row) => readList(row, listed["items"]));
  const plain = decode(text);
  if (kind === "number") return parseEntry(plain);
  if (kind === "flag") return plain === "true" ? true : plain === "false" ? false : plain;
  if (kind === "json") {
    try {
      const found = JSON.parse(plain);
      return Array.isArray(found) ? found.slice(0, mostRead(listed)) : found;
    } catch {
      return plain; // Python says what is wrong with it.
    }
  }
  return plain;
}

/** Whether two plain JSON values are the same, whatever the order of names. @param {any} a @param {any} b @returns {boolean} */
export function isSame(a, b) {
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return a === b;
  const keys = Object.keys(a);
  return Array.isArray(a) === Array.isArray(b) && keys.length === Object.keys(b).length
    && keys.every((key) => key in b && isSame(a[key], b[key]));
}

/**
 * What of `inputs` differs from `defaults`, as it stands behind the `?`.
 * @param {Inputs} inputs @param {Inputs} defaults @param {Record<string, Schema>} properties
 */
export function encodeInputs(inputs, defaults, properties) {
  return Object.keys(properties)
    .filter((key) => key in inputs && !isSame(inputs[key], defaults[key]))
    .map((key) => `${key}=${spell(inputs[key], properties[key] ?? {})}`)
    .join("&");
}

/**
 * The other way round; names that the calculator does not have are kept, so that Python can say so.
 * @param {string} text @param {Record<string, Schema>} properties
 * @returns {Inputs}
 */
export function decodeInputs(text, properties) {
  /** @type {[string, any][]} */
  const entries = [];
  for (const pair of text.split("&")) {
    const at = pair.indexOf("=");
    if (at < 1) continue;
    const key = pair.slice(0, at);
    const schema = Object.hasOwn(properties, key) ? properties[key] : undefined;
    entries.push([key, read(pair.slice(at + 1), schema ?? {})]);
  }
  return Object.fromEntries(entries); // An assignment would not take __proto__ for a name.
}

/** The fragment's calculators: id -> what stands behind its `?`. @param {string} hash */
export function splitHash(hash) {
  /** @type {Map<string, string>} */
  const states = new Map();
  // A plus sign before no calculator is one that somebody typed: theta=1e+3.
  for (const part of hash.replace(/^#/, "").split(/\+(?=[^+?&=]+\?)/)) {
    const at = part.indexOf("?");
    if (at > 0) states.set(decode(part.slice(0, at)), part.slice(at + 1));
  }
  return states;
}

/** @param {Map<string, string>} states */
export function joinHash(states) {
  const parts = [...states].filter(([, text]) => text).map(([id, text]) => `${encodeURIComponent(id)}?${text}`);
  return parts.length ? `#${parts.join("+")}` : "";
}
