/**
 * Formulas for the build: `{"tex", "display"}` in, HTML with MathML out, one JSON line each.
 *
 * Every formula is on its own: a macro defined in one is unknown in the next, so that the order of
 * the formulas can never change what they look like.
 */

import katex from "katex";

import { serveLines } from "./lines.mjs";

/** What a formula may ask for. `maxExpand` ends recursive macros, `maxSize` (em) giant boxes. */
const OPTIONS = {
  output: /** @type {const} */ ("htmlAndMathml"),
  strict: true,
  trust: refuse,
  throwOnError: true,
  maxExpand: 1000,
  maxSize: 20,
};

/**
 * KaTeX prints a command that is not trusted in red and goes on; here it is an error.
 *
 * @param {{command: string}} context
 * @returns {boolean}
 */
function refuse({ command }) {
  throw new katex.ParseError(`${command} is not allowed: formulas hold no links, images or HTML`);
}

/** What opens and closes a group of which no part stands alone. */
const OPENS = new Set(["{", "\\begin", "\\left"]);
const CLOSES = new Set(["}", "\\end", "\\right"]);
const TOKEN = /\\(?:[a-zA-Z]+|[^])|%[^\n]*|[{}&]/g;
const GAP = "\\qquad";

/**
 * Where a displayed formula may become several, side by side where there is room and below each
 * other where there is not: at the wide spaces that stand in no group.
 *
 * @param {string} tex
 * @returns {string[]} in order
 */
function partsOf(tex) {
  const parts = [];
  let depth = 0;
  let start = 0;
  for (const { 0: token, index } of tex.matchAll(TOKEN)) {
    if (OPENS.has(token)) depth += 1;
    else if (CLOSES.has(token)) depth -= 1;
    else if (token === GAP && depth === 0) {
      parts.push(tex.slice(start, index));
      start = index + GAP.length;
    }
  }
  parts.push(tex.slice(start));
  return parts.every((part) => part.trim()) ? parts : [tex];
}

/** A formula that is one `aligned` and nothing else. */
const ALIGNED = /^\s*\\begin\{aligned\}([^]*)\\end\{aligned\}\s*$/;

/**
 * The cells of an `aligned` with pairs beside each other, row by row. Null for any other formula, and
 * where rows ask for room of their own.
 *
 * @param {string} tex
 * @returns {string[][] | null}
 */
function rowsOf(tex) {
  const body = ALIGNED.exec(tex)?.[1];
  if (body === undefined) return null;
  const rows = [[""]];
  let depth = 0;
  let start = 0;
  const cut = (/** @type {number} */ end) => {
    const row = rows[rows.length - 1];
    row[row.length - 1] += body.slice(start, end);
  };
  for (const { 0: token, index } of body.matchAll(TOKEN)) {
    if (OPENS.has(token)) depth += 1;
    else if (CLOSES.has(token)) depth -= 1;
    if (depth < 0 || (depth === 0 && body.startsWith("\\\\[", index))) return null;
    if (depth === 0 && (token === "&" || token === "\\\\")) {
      cut(index);
      start = index + token.length;
      if (token === "&") rows[rows.length - 1].push("");
      else rows.push([""]);
    }
  }
  cut(body.length);
  if (rows.length > 1 && rows[rows.length - 1].join("").trim() === "") rows.pop();
  return rows.some((row) => row.length > 2) ? rows : null;
}

/**
 * The rows of an `aligned` as a grid of cells: pairs stand side by side where there is room and below
 * each other where there is not, and their relations stay below each other either way.
 *
 * @param {string[][]} rows
 * @param {import("katex").KatexOptions} options
 */
function gridOf(rows, options) {
  const pairs = Math.ceil(Math.max(...rows.map((row) => row.length)) / 2);
  const cell = (/** @type {string} */ tex, /** @type {number} */ column) => {
    // A relation that begins a cell keeps its distance from what stands before it.
    const html = tex.trim() && katex.renderToString(column % 2 ? `{}${tex}` : tex, options);
    const names = ["equation-cell", column % 2 ? "" : "equation-left", column ? "" : "equation-first"];
    return `<span class="${names.filter(Boolean).join(" ")}">${html}</span>`;
  };
  const cells = rows.flatMap((row) => row.map(cell));
  return `<span class="equation-rows" style="--pairs:${pairs}">${cells.join("")}</span>`;
}

/**
 * @param {string} tex
 * @param {boolean} display
 */
function set(tex, display) {
  const options = { ...OPTIONS, displayMode: display, macros: {} };
  if (!display) return katex.renderToString(tex, options);
  try {
    const rows = rowsOf(tex);
    if (rows) return gridOf(rows, options);
    return partsOf(tex).map((part) => katex.renderToString(part, options)).join("");
  } catch (error) {
    // The whole formula fails in the same way, with places counted from its own beginning.
    katex.renderToString(tex, { ...options, macros: {} });
    throw error;
  }
}

serveLines(
  (/** @type {{tex: string, display: boolean}} */ { tex, display }) => set(tex, display),
  (error) => (error instanceof katex.ParseError ? { position: error.position ?? null } : {}),
);
