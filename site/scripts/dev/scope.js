/**
 * What the site's scripts find in place of the browser's own while they are edited: the bundler puts
 * these names in (site/node/bundle.mjs). Each bundle has its own, so that what an older one has set
 * going ends with it.
 */

let isOver = false;

/** The elements that this bundle defines, by tag. @type {Map<string, CustomElementConstructor>} */
export const elements = new Map();

/** From now on nothing that was set going here does anything. */
export function endScope() {
  isOver = true;
}

/**
 * @template {unknown[]} Given
 * @param {(...given: Given) => void} action @returns {(...given: Given) => void}
 */
function whileLive(action) {
  return (...given) => {
    if (!isOver) action(...given);
  };
}

/** @param {() => void} action @param {number} [after] */
export function setTimeout(action, after) {
  return window.setTimeout(whileLive(action), after);
}

/** @param {FrameRequestCallback} action */
export function requestAnimationFrame(action) {
  return window.requestAnimationFrame(whileLive(action));
}

/** @param {IdleRequestCallback} action @param {IdleRequestOptions} [options] */
function requestIdleCallback(action, options) {
  return globalThis.requestIdleCallback(whileLive(action), options);
}

/** Definitions wait until the whole bundle has run: see dev/elements.js. */
export const customElements = {
  /** @param {string} tag @param {CustomElementConstructor} element */
  define(tag, element) {
    elements.set(tag, element);
  },
};

export { requestIdleCallback as "window.requestIdleCallback" };
