/** A new version of the open page: what differs is changed, and nothing moves under the reader. */

import { patchCalculator } from "./calculator.js";
import { origin } from "./origin.js";
import { patch } from "./patch.js";
import { replaceScripts } from "./scripts.js";
import { showStyle } from "./style.js";

const STYLE = 'link[rel="stylesheet"]';
const SCRIPT = 'script[type="module"][src]';
const BUILD = 'meta[name="wiki-build"]';

/** @param {ParentNode | null} page @param {string} selector */
function addresses(page, selector) {
  const found = [...(page?.querySelectorAll(selector) ?? [])];
  return found.map((element) => element.getAttribute("href") ?? element.getAttribute("src") ?? "");
}

/** The address of the editor's part; its query says which scripts of the site there are. @param {ParentNode | null} page */
function scripts(page) {
  const [address = ""] = addresses(page, SCRIPT);
  const [own, site] = address.split("?");
  return { address, own, site };
}

/** @param {string} html */
export async function show(html) {
  const fresh = new DOMParser().parseFromString(html, "text/html");
  const [head, body] = [origin.querySelector("head"), origin.querySelector("body")];
  const [before, after] = [scripts(origin), scripts(fresh)];
  const [style = "", newStyle = ""] = [head, fresh.head].map((page) => addresses(page, STYLE)[0]);
  // A page without a style stands in for one that could not be made yet.
  if (!head || !body || !style || before.own !== after.own) return location.reload();
  document.title = fresh.title;
  document.querySelector(BUILD)?.setAttribute("content", fresh.querySelector(BUILD)?.getAttribute("content") ?? "");
  head.replaceWith(fresh.head.cloneNode(true));
  const [x, y] = [scrollX, scrollY];
  if (!body.isEqualNode(fresh.body)) patch(body, fresh.body, patchCalculator);
  // The browser keeps the place by what is at the top of the window; a new element may have moved it.
  if (Math.abs(scrollY - y) > innerHeight) scrollTo({ left: x, top: y, behavior: "instant" });
  if (newStyle !== style) await showStyle(newStyle);
  if (after.site && before.site !== after.site) await replaceScripts(after.address);
  document.dispatchEvent(new Event("wiki-changed"));
  return undefined;
}
