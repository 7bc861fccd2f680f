/** A new version of the open page: what differs is changed, and nothing moves under the reader. */

import { patchCalculator } from "./calculators.js";
import { origin } from "./origin.js";
import { patch } from "./patch.js";
import { showStyle } from "./style.js";

const STYLE = 'link[rel="stylesheet"]';
const SCRIPT = "script[src]";

/** @param {ParentNode} page @param {string} selector */
function addresses(page, selector) {
  const found = [...page.querySelectorAll(selector)];
  return found.map((element) => element.getAttribute("href") ?? element.getAttribute("src") ?? "");
}

/** @param {string} html */
export function show(html) {
  const fresh = new DOMParser().parseFromString(html, "text/html");
  const [head, body] = [origin.querySelector("head"), origin.querySelector("body")];
  const scripts = addresses(fresh, SCRIPT);
  // What a script has done cannot be undone: the page starts again, where it was.
  if (!head || !body || addresses(origin, SCRIPT).join() !== scripts.join()) return location.reload();
  const [style = ""] = addresses(fresh.head, STYLE);
  if (addresses(head, STYLE)[0] !== style) void showStyle(style);
  document.title = fresh.title;
  const build = 'meta[name="wiki-build"]';
  document.querySelector(build)?.setAttribute("content", fresh.querySelector(build)?.getAttribute("content") ?? "");
  head.replaceWith(fresh.head.cloneNode(true));
  const [x, y] = [scrollX, scrollY];
  if (!body.isEqualNode(fresh.body)) patch(body, fresh.body, patchCalculator);
  // The browser keeps the place by what is at the top of the window; a new element may have moved it.
  if (Math.abs(scrollY - y) > innerHeight) scrollTo({ left: x, top: y, behavior: "instant" });
  document.dispatchEvent(new Event("wiki-changed"));
  return undefined;
}
