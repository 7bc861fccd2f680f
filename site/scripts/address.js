/** The page's address as the calculators' memory: every finished change is one step of Back. */

import { LIMITS } from "./constants.js";
import { joinHash, splitHash } from "./codec.js";

/** The last change written: further ones to the same control within a moment replace it. */
let last = { key: "", time: 0 };
let isDragging = false;
let pause = 0;

/** @param {string} id */
export function stateOf(id) {
  return splitHash(location.hash).get(id);
}

/** @param {string} id @param {string} text */
function addressWith(id, text) {
  const states = splitHash(location.hash);
  states.delete(id);
  // The calculator touched last comes first: the page opens at it.
  const ordered = new Map([[id, text], ...states]);
  return location.pathname + location.search + joinHash(ordered);
}

/** Correct the present step of Back: what it held has no result. @param {string} id @param {string} text */
export function correct(id, text) {
  clearTimeout(pause);
  isDragging = false;
  history.replaceState(history.state, "", addressWith(id, text));
}

/**
 * Write the state of calculator `id`. The first change of a drag makes a step of Back, the others
 * replace it, and no oftener than a browser allows.
 * @param {string} id @param {string} text @param {string} control @param {boolean} isFinal
 */
export function remember(id, text, control, isFinal) {
  const key = `${id} ${control}`;
  const now = performance.now();
  clearTimeout(pause);
  const address = addressWith(id, text);
  const continues = isDragging || (last.key === key && now - last.time < LIMITS.sameEdit);
  if (!continues) history.pushState(history.state, "", address);
  else if (isFinal || now - last.time > LIMITS.historyPause) history.replaceState(history.state, "", address);
  else {
    pause = setTimeout(() => history.replaceState(history.state, "", address), LIMITS.historyPause);
    isDragging = true;
    return;
  }
  isDragging = !isFinal;
  last = { key, time: now };
}

/** Call `action` whenever the reader moves in the history or edits the address. @param {() => void} action */
export function onMove(action) {
  const moved = () => {
    clearTimeout(pause);
    isDragging = false;
    last = { key: "", time: 0 };
    action();
  };
  addEventListener("popstate", moved);
}
