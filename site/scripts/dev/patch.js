/** Changing what the reader sees as little as the source has changed. */

import { pair, shownOf } from "./origin.js";

/** @typedef {(kept: Element, fresh: Element) => boolean} Special whether it has done the work itself */

/** Where this cannot be done in so small a part, and a larger one must be made anew. */
class LostError extends Error {}

/** @param {Node} kept @returns {Node} */
function found(kept) {
  const shown = shownOf(kept);
  if (!shown) throw new LostError();
  return shown;
}

/** @param {Node} fresh @returns {Node} what the reader will see of it */
function made(fresh) {
  const shown = document.importNode(fresh, true);
  pair(fresh, shown);
  return shown;
}

/** @param {ChildNode} kept @param {ChildNode} fresh */
export function replace(kept, fresh) {
  /** @type {ChildNode} */ (found(kept)).replaceWith(made(fresh));
  kept.replaceWith(fresh);
}

/** @param {ChildNode} kept */
function remove(kept) {
  /** @type {ChildNode} */ (found(kept)).remove();
  kept.remove();
}

/** @param {Node} parent @param {ChildNode} fresh @param {ChildNode | null} next */
function insert(parent, fresh, next) {
  found(parent).insertBefore(made(fresh), next && found(next));
  parent.insertBefore(fresh, next);
}

/** @param {Element} kept @param {Element} fresh */
function patchAttributes(kept, fresh) {
  const shown = /** @type {Element} */ (found(kept));
  for (const { name } of [...kept.attributes]) {
    if (fresh.hasAttribute(name)) continue;
    kept.removeAttribute(name);
    shown.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (kept.getAttribute(name) === value) continue;
    kept.setAttribute(name, value);
    shown.setAttribute(name, value);
  }
}

/** @param {Node} left @param {Node} right */
function isAlike(left, right) {
  if (left.nodeName !== right.nodeName) return false;
  return !(left instanceof Element && right instanceof Element) || left.id === right.id;
}

/**
 * Make what the reader sees of `kept` like `fresh`, and `kept` with it.
 * @param {ChildNode} kept @param {ChildNode} fresh @param {Special} special
 */
export function patch(kept, fresh, special) {
  if (!(kept instanceof Element && fresh instanceof Element) || !isAlike(kept, fresh)) return replace(kept, fresh);
  if (special(kept, fresh)) return undefined;
  try {
    patchAttributes(kept, fresh);
    patchChildren(kept, fresh, special);
  } catch (error) {
    if (!(error instanceof LostError)) throw error;
    replace(kept, fresh);
  }
  return undefined;
}

/** @param {Element} kept @param {Element} fresh @param {Special} special */
function patchChildren(kept, fresh, special) {
  const before = [...kept.childNodes];
  const after = [...fresh.childNodes];
  while (before[0] && after[0]?.isEqualNode(before[0])) {
    before.shift();
    after.shift();
  }
  let next = null;
  for (let last = before.at(-1); last && after.at(-1)?.isEqualNode(last); last = before.at(-1)) {
    next = last;
    before.pop();
    after.pop();
  }
  for (const target of after) {
    const at = before.findIndex((node) => node.isEqualNode(target));
    const same = at >= 0 ? at : before.findIndex((node) => isAlike(node, target));
    const isSkipped = same > 0 && (at < 0 || before.length <= after.length);
    if (same < 0 || isSkipped) {
      insert(kept, target, before[0] ?? next);
      continue;
    }
    for (const gone of before.splice(0, same)) remove(gone);
    const partner = /** @type {ChildNode} */ (before.shift());
    if (!partner.isEqualNode(target)) patch(partner, target, special);
  }
  before.forEach(remove);
}
