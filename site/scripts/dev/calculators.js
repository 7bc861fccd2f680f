/**
 * Calculators while their code is edited: the reader's inputs stay, and the server's Python, which
 * has the code as it is now, answers instead of the page's, which has it as it was.
 */

import { showResult } from "../result.js";
import { runtime } from "../runtime.js";
import { TAGS } from "../constants.js";

/** @typedef {import("../wiki-calculator.js").WikiCalculator} WikiCalculator */

/** Calculators whose code in this page's Python is not the newest. @type {Set<string>} */
export const edited = new Set();
const ask = runtime.request.bind(runtime);

runtime.request = (owner, body) => {
  const { calculator } = /** @type {{calculator: string}} */ (body);
  return edited.has(calculator) ? askServer(body) : ask(owner, body);
};

/** @param {unknown} body */
async function askServer(body) {
  const response = await fetch("/-/calculate", { method: "POST", body: JSON.stringify(body) });
  return response.json();
}

/** Show what the server answers to the inputs whose result is shown. @param {WikiCalculator} element */
export async function refresh(element) {
  const { name, language, show, hide, plot } = element.spec;
  const inputs = element.shown.inputs;
  await redraw(element, { inputs, answer: await askServer({ calculator: name, inputs, language, show, hide, plot }) });
}

/** Show an answer, as these scripts show it. @param {WikiCalculator} element @param {WikiCalculator["shown"]} shown */
export async function redraw(element, shown) {
  const region = element.querySelector("[data-result]");
  if (!shown.answer?.ok || !(region instanceof HTMLElement)) return;
  await showResult(region, shown.answer);
  element.shown = shown;
}

/** Show what the edited calculators answer to the inputs that the reader has given. @param {string[]} names */
export async function recompute(names) {
  for (const name of names) edited.add(name);
  // Those that wait for an answer of the page's Python ask again, as after a step of Back.
  dispatchEvent(new PopStateEvent("popstate"));
  const all = /** @type {NodeListOf<WikiCalculator>} */ (document.querySelectorAll(TAGS.calculator));
  await Promise.all([...all].filter((element) => edited.has(element.spec.name) && element.shown.answer).map(refresh));
}
