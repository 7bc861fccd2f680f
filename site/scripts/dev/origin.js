/**
 * The page as the server last sent it, kept in a document of its own where nothing comes alive, and
 * for each of its nodes the one that the reader sees. Scripts change what the reader sees; what has
 * changed in the source is the difference between two pages as they were sent.
 */

/** @type {WeakMap<Node, Node>} */
const seen = new WeakMap();
const apart = document.implementation.createHTMLDocument("");

/** The kept page. */
export const origin = /** @type {HTMLElement} */ (apart.importNode(document.documentElement, true));
pair(origin, document.documentElement);

/**
 * Note that `shown` is what the reader sees of `kept`, and so on inside. Where a script has put
 * something of its own, the nodes before it are noted.
 * @param {Node} kept @param {Node} shown
 */
export function pair(kept, shown) {
  seen.set(kept, shown);
  const inside = [...shown.childNodes];
  [...kept.childNodes].every((child, at) => {
    const other = inside[at];
    if (other?.nodeName !== child.nodeName) return false;
    pair(child, other);
    return true;
  });
}

/** What the reader sees of a kept node, if it is still there. @param {Node} kept */
export function shownOf(kept) {
  const found = seen.get(kept);
  return found?.isConnected ? found : undefined;
}
