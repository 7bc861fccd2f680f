/** A calculator in the page whose source has changed: the reader's inputs stay. */

import { shownOf } from "./origin.js";
import { replace } from "./patch.js";
import { refresh } from "./scripts.js";

/** @typedef {import("../wiki-calculator.js").WikiCalculator} WikiCalculator */

const PARTS = ["[data-controls]", "[data-spec]"];

/**
 * Its result alone where that is all that changed, or all of it. A new element takes the reader's
 * inputs from the address, where they are kept.
 * @param {Element} kept @param {Element} fresh
 */
export function patchCalculator(kept, fresh) {
  if (kept.localName !== "wiki-calculator") return false;
  const isSame = PARTS.every((part) => {
    const [before, after] = [kept.querySelector(part), fresh.querySelector(part)];
    return before && after?.isEqualNode(before);
  });
  const [before, after] = [kept, fresh].map((element) => element.querySelector("[data-result]"));
  const shown = /** @type {WikiCalculator | undefined} */ (shownOf(kept));
  if (!isSame || !before || !after || !shown?.shown) {
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
