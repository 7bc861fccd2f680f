/**
 * A calculator's state in the address: `#ledger?counts=4,8` (lists with commas, rows of a matrix
 * with semicolons, tables of records as JSON). Only what differs from the place's own inputs is
 * written. Calculators of one page are joined by `+`.
 */

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

/** A typed or linked entry as JSON: a number if it is one, null for nothing, else the text. @param {string} text */
export function parseEntry(text) {
  const trimmed = text.trim().replace("\u2212", "-");
  if (trimmed === "" || trimmed === "null") return null;
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed) ? Number(trimmed) : trimmed;
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

/** @param {string} text */
function readList(text) {
  return text === "" ? [] : text.split(",").map((item) => parseEntry(decodeURIComponent(item)));
}

/** @param {string} text @param {Schema} schema @returns {any} */
function read(text, schema) {
  if (text === "null") return null;
  const kind = spelling(schema);
  if (kind === "list") return readList(text);
  if (kind === "matrix") return text === "" ? [] : text.split(";").map(readList);
  const plain = decodeURIComponent(text);
  if (kind === "number") return parseEntry(plain);
  if (kind === "flag") return plain === "true" ? true : plain === "false" ? false : plain;
  if (kind === "json") {
    try {
      return JSON.parse(plain);
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
  /** @type {Inputs} */
  const inputs = {};
  for (const pair of text.split("&")) {
    const at = pair.indexOf("=");
    if (at < 1) continue;
    const key = pair.slice(0, at);
    inputs[key] = read(pair.slice(at + 1), properties[key] ?? {});
  }
  return inputs;
}

/** The fragment's calculators: id -> what stands behind its `?`. @param {string} hash */
export function splitHash(hash) {
  /** @type {Map<string, string>} */
  const states = new Map();
  for (const part of hash.replace(/^#/, "").split("+")) {
    const at = part.indexOf("?");
    if (at > 0) states.set(decodeURIComponent(part.slice(0, at)), part.slice(at + 1));
  }
  return states;
}

/** @param {Map<string, string>} states */
export function joinHash(states) {
  const parts = [...states].filter(([, text]) => text).map(([id, text]) => `${encodeURIComponent(id)}?${text}`);
  return parts.length ? `#${parts.join("+")}` : "";
}
