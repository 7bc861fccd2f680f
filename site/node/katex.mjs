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

serveLines(
  (/** @type {{tex: string, display: boolean}} */ { tex, display }) =>
    katex.renderToString(tex, { ...OPTIONS, displayMode: display, macros: {} }),
  (error) => (error instanceof katex.ParseError ? { position: error.position ?? null } : {}),
);
