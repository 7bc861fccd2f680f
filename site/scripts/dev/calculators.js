/**
 * Calculators while their code is edited: the reader's inputs stay, and the server's Python, which
 * has the code as it is now, answers instead of the page's, which has it as it was.
 */

import { showResult } from "../result.js";
import { runtime } from "../runtime.js";
import { TAGS } from "../constants.js";
import { replace } from "./patch.js";
import { shownOf } from "./origin.js";

/** @typedef {import("../wiki-calculator.js").WikiCalculator} WikiCalculator */

/** Calculators whose code in this page's Python is not the newest. @type {Set<string>} */
const edited = new Set();
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

/** @param {WikiCalculator} element */
async function refresh(element) {
  const { name, language, show, hide, plot } = element.spec;
  const inputs = element.shown.inputs;
  const answer = await askServer({ calculator: name, inputs, language, show, hide, plot });
  const region = element.querySelector("[data-result]");
  if (!answer.ok || !(region instanceof HTMLElement)) return;
  await showResult(region, answer);
  element.shown = { inputs, answer };
}

/** Show what the edited calculators answer to the inputs that the reader has given. @param {string[]} names */
export async function recompute(names) {
  for (const name of names) edited.add(name);
  // Those that wait for an answer of the page's Python ask again, as after a step of Back.
  dispatchEvent(new PopStateEvent("popstate"));
  const all = /** @type {NodeListOf<WikiCalculator>} */ (document.querySelectorAll(TAGS.calculator));
  await Promise.all([...all].filter((element) => edited.has(element.spec.name) && element.shown.answer).map(refresh));
}

const PARTS = ["[data-controls]", "[data-spec]"];

/**
 * A calculator in the page changed: its result alone where that is all, or all of it. A new element
 * takes the reader's inputs from the address, where they are kept.
 * @param {Element} kept @param {Element} fresh
 */
export function patchCalculator(kept, fresh) {
  if (kept.localName !== TAGS.calculator) return false;
  const isSame = PARTS.every((part) => {
    const [before, after] = [kept.querySelector(part), fresh.querySelector(part)];
    return before && after?.isEqualNode(before);
  });
  const [before, after] = [kept, fresh].map((element) => element.querySelector("[data-result]"));
  const shown = /** @type {WikiCalculator | undefined} */ (shownOf(kept));
  if (!isSame || !before || !after || !shown) {
    replace(kept, fresh);
    return true;
  }
  if (before.isEqualNode(after)) return false;
  const region = shown.querySelector("[data-result]");
  if (!shown.shown.answer && region) region.innerHTML = after.innerHTML;
  else void refresh(shown);
  before.replaceWith(after.cloneNode(true));
  return before.isEqualNode(after);
}
