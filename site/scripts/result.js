/** The result of a calculator in the page: the HTML that Python wrote, its plots drawn. */

import { morph } from "./morph.js";

/** @typedef {{html: string, plots: Record<string, any>}} Shown */

/** @type {Promise<typeof import("./plot.js")> | undefined} */
let plotting;

/** Fetch what draws plots; the first result will need it. */
export function preparePlots() {
  plotting ??= import("./plot.js");
  return plotting;
}

/** @param {Element} element */
function isCanvas(element) {
  return element.classList.contains("plot-canvas");
}

/** What each canvas shows, as JSON: an equal plot is not drawn again. @type {WeakMap<Element, string>} */
const drawn = new WeakMap();

/**
 * Replace what differs. The verdict, tables and plots change in one task, before the next paint.
 * @param {HTMLElement} region @param {Shown} answer
 */
export async function showResult(region, { html, plots }) {
  const draw = Object.keys(plots).length ? (await preparePlots()).plotMarkup : undefined;
  const template = document.createElement("template");
  template.innerHTML = html;
  morph(region, template.content, isCanvas);
  for (const [key, spec] of Object.entries(plots)) {
    const canvas = region.querySelector(`[data-plot="${CSS.escape(key)}"] > .plot-canvas`);
    const wanted = JSON.stringify(spec);
    if (!canvas || !draw || drawn.get(canvas) === wanted) continue;
    drawn.set(canvas, wanted);
    const markup = draw(spec, document);
    if (canvas.innerHTML !== markup) canvas.innerHTML = markup;
  }
}
