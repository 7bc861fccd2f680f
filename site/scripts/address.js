/**
 * The page's address as the calculators' memory: every finished change is one step of Back.
 *
 * The fragment shows the states; each step of the history also holds them, so that following a
 * link to a heading of the same page, which replaces the fragment, does not lose them.
 */

import { LIMITS } from "./constants.js";
import { joinHash, splitHash } from "./codec.js";

/** The last change written: further ones to the same control within a moment replace it. */
let last = { key: "", time: 0 };
let isDragging = false;
let pause = 0;

/** Calculator's id -> its state, at this step of the history. */
let states = splitHash(location.hash);
if (states.size === 0) states = splitHash(history.state?.wiki ?? "");

/** Tells `move`; each listener is called, whatever happens in another. */
const moves = new EventTarget();

function settle() {
  history.replaceState({ ...history.state, wiki: joinHash(states) }, "");
}

/** @param {string} id */
export function stateOf(id) {
  return states.get(id);
}

/** Whether the reader came by a link to the state of `id`. @param {string} id */
export function isLinkedTo(id) {
  const [navigation] = performance.getEntriesByType("navigation");
  const isVisit = /** @type {PerformanceNavigationTiming | undefined} */ (navigation)?.type === "navigate";
  return isVisit && [...splitHash(location.hash).keys()][0] === id;
}

/** The fragment of a link to all states as they are. */
export function statesHash() {
  return joinHash(states);
}

/** @param {"pushState" | "replaceState"} method */
function write(method) {
  const hash = joinHash(states);
  history[method]({ wiki: hash }, "", location.pathname + location.search + hash);
}

/** @param {string} id @param {string} text */
function setState(id, text) {
  states.delete(id);
  // The calculator touched last comes first: a link to the page opens at it.
  states = new Map([[id, text], ...states]);
}

/** Correct the present step of Back: what it held has no result. @param {string} id @param {string} text */
export function correct(id, text) {
  clearTimeout(pause);
  isDragging = false;
  setState(id, text);
  write("replaceState");
}

/**
 * Write the state of calculator `id`. The first change of a drag makes a step of Back, the others
 * replace it, and no oftener than a browser allows.
 * @param {string} id @param {string} text @param {string} control @param {boolean} isFinal
 */
export function remember(id, text, control, isFinal) {
  const key = `${id} ${control}`;
  const now = performance.now();
  const continues = isDragging || (last.key === key && now - last.time < LIMITS.sameEdit);
  clearTimeout(pause);
  setState(id, text);
  if (continues && !isFinal && now - last.time < LIMITS.historyPause) {
    pause = setTimeout(() => write("replaceState"), LIMITS.historyPause);
    isDragging = true;
    return;
  }
  write(continues ? "replaceState" : "pushState");
  isDragging = !isFinal;
  last = { key, time: now };
}

/** Call `action` whenever the reader moves in the history or edits the address. @param {() => void} action */
export function onMove(action) {
  moves.addEventListener("move", action);
}

addEventListener("popstate", () => {
  clearTimeout(pause);
  isDragging = false;
  last = { key: "", time: 0 };
  const linked = splitHash(location.hash);
  if (history.state?.wiki !== undefined) states = splitHash(history.state.wiki);
  else if (linked.size > 0) states = linked;
  settle();
  moves.dispatchEvent(new Event("move"));
});
settle();
