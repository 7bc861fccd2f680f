/** A word when the browser has no room for what the site would keep, until there is room again. */

import { hideNotice, showNotice } from "./notices.js";
import { textButton } from "./status.js";
import { say } from "./words.js";

const MATTER = "storage";

/** What could not be kept: of Python's start, of this page, of the book in this language. @type {Set<string>} */
const unkept = new Set();

/**
 * Take note of what there was room for; `retry` tries to keep all of it again.
 * @param {Record<string, boolean>} hasRoom @param {() => void} retry
 */
export function noteRoom(hasRoom, retry) {
  for (const [what, isKept] of Object.entries(hasRoom)) {
    if (isKept) unkept.delete(what);
    else unkept.add(what);
  }
  if (unkept.size === 0) return hideNotice(MATTER);
  showNotice(MATTER, [
    say("storage_full"), " ",
    textButton(say("retry"), retry), " ",
    textButton(say("storage_close"), () => hideNotice(MATTER)),
  ]);
}
