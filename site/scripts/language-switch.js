/** The language switch keeps the place: a calculator's state, or the heading being read. */

import { statesHash } from "./address.js";

/** How far down the window, in parts of it, a heading is taken to be the one being read. */
const READING_LINE = 0.3;

function placeHere() {
  if (statesHash()) return statesHash();
  const headings = [...document.querySelectorAll("main :is(h2, h3)[id], main section[id] > :is(h2, h3)")];
  const here = headings.findLast((heading) => heading.getBoundingClientRect().top < innerHeight * READING_LINE);
  const id = here?.id || here?.parentElement?.id || "";
  return id ? `#${id}` : "";
}

export function keepPlace() {
  for (const link of document.querySelectorAll("a[data-language]")) {
    const anchor = /** @type {HTMLAnchorElement} */ (link);
    // At the press, before the browser reads the address: it works for a new tab, too.
    for (const name of ["pointerdown", "keydown", "focus"]) {
      anchor.addEventListener(name, () => {
        anchor.hash = placeHere();
      });
    }
  }
}
