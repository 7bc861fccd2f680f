/** Every element of the page made anew by the class that is now its own, with what the reader gave it. */

import { definedTags } from "./elements.js";
import { origin, pair, shownOf } from "./origin.js";

/** @typedef {import("../wiki-calculator.js").WikiCalculator} WikiCalculator */
/** @typedef {{kept: Element, fresh: Element, old: Element, born: Element}} Renewal */

const CALCULATOR = "wiki-calculator";
const CONTROLS = "input, textarea, select";

/** @param {typeof import("./calculators.js").redraw} redraw */
export async function renew(redraw) {
  const renewals = [...begun()];
  // Results are drawn before anything is in the page: nothing flickers.
  await Promise.all(renewals.flatMap((item) => [...answered(item)].map(([old, born]) => redraw(born, old.shown))));
  const [x, y] = [scrollX, scrollY];
  for (const item of renewals) finish(item);
  scrollTo({ left: x, top: y, behavior: "instant" });
}

/** The elements that are in no other: made, and not in the page yet. @returns {Generator<Renewal>} */
function* begun() {
  const tags = definedTags();
  for (const kept of origin.querySelectorAll(tags)) {
    const old = shownOf(kept);
    if (!(old instanceof Element) || kept.parentElement?.closest(tags)) continue;
    const fresh = /** @type {Element} */ (kept.cloneNode(true));
    const born = document.importNode(fresh, true);
    pair(fresh, born);
    yield { kept, fresh, old, born };
  }
}

/** Calculators that show an answer, each with its new one. @param {Renewal} renewal @returns {Generator<[WikiCalculator, WikiCalculator]>} */
function* answered({ old, born }) {
  for (const [before, after] of matched(old, born, CALCULATOR)) {
    const [left, right] = /** @type {WikiCalculator[]} */ ([before, after]);
    if (left?.shown?.answer && right?.shown && left.spec.name === right.spec.name) yield [left, right];
  }
}

/**
 * What both hold that `selector` finds, in order.
 * @param {Element} old @param {Element} born @param {string} selector
 * @returns {Generator<[Element, Element]>}
 */
function* matched(old, born, selector) {
  const [before, after] = [old, born].map((element) => [element, ...element.querySelectorAll("*")].filter((e) => e.matches(selector)));
  if (before?.length !== after?.length) return;
  for (const [at, element] of (before ?? []).entries()) yield [element, /** @type {Element[]} */ (after)[at] ?? element];
}

/** @param {Renewal} renewal */
function finish({ kept, fresh, old, born }) {
  const path = pathTo(old, document.activeElement);
  carry(old, born);
  const isModal = old.querySelector("dialog:modal") !== null;
  old.replaceWith(born);
  kept.replaceWith(fresh);
  if (isModal) born.querySelector("dialog")?.showModal();
  const focused = path?.reduce((/** @type {Element | undefined} */ found, at) => found?.children[at], born);
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
}

/** What the reader has typed and opened; a calculator takes its inputs from the address. @param {Element} old @param {Element} born */
function carry(old, born) {
  for (const [before, after] of matched(old, born, CONTROLS)) {
    if (before.closest(CALCULATOR)) continue;
    const [left, right] = /** @type {HTMLInputElement[]} */ ([before, after]);
    if (left && right) Object.assign(right, { value: left.value, checked: left.checked });
  }
  for (const [before, after] of matched(old, born, "details")) after.toggleAttribute("open", before.hasAttribute("open"));
}

/** The places of the elements on the way from one to another inside it. @param {Element} from @param {Element | null} to */
function pathTo(from, to) {
  if (!to || !from.contains(to)) return undefined;
  const path = [];
  for (let element = to; element !== from && element.parentElement; element = element.parentElement) {
    path.unshift([...element.parentElement.children].indexOf(element));
  }
  return path;
}
