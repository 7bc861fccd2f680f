/**
 * The site's scripts in this page, which others may replace while the page stays: the listeners of the
 * old ones end, Python goes on, and every element is made anew by its new class with what the reader
 * has put into it.
 */

import { canDefine, defineAll } from "./elements.js";
import { tellFault } from "./faults.js";
import { renew } from "./renew.js";

/** @typedef {typeof import("./site.js").site} Site */
/** @typedef {import("../wiki-calculator.js").WikiCalculator} WikiCalculator */

/** The scripts that run. @type {Site | undefined} */
let site;
/** Ends every listener that they have set. @type {AbortController | undefined} */
let listening;
let count = 0;

const { addEventListener: listen } = EventTarget.prototype;

/**
 * @this {EventTarget | undefined}
 * @param {string} type @param {EventListenerOrEventListenerObject | null} listener
 * @param {boolean | AddEventListenerOptions} [options]
 */
EventTarget.prototype.addEventListener = function (type, listener, options) {
  const target = this ?? globalThis;
  if (!listening) return listen.call(target, type, listener, options);
  const given = typeof options === "object" ? options : { capture: options ?? false };
  const signals = given.signal ? [given.signal, listening.signal] : [listening.signal];
  return listen.call(target, type, listener, { ...given, signal: AbortSignal.any(signals) });
};

/** The scripts that the page came with, if they could be bundled. */
export async function start() {
  if (!new URL(import.meta.url).search) return;
  const next = await evaluated("./", import.meta.url);
  if (next) defineAll(next.elements);
}

/**
 * Others in their place. A folder of their own gives every part of them a new address, for the
 * browser runs what it knows by its address no second time.
 * @param {string} address this part's own: its query says where the others are
 */
export async function replaceScripts(address) {
  const [before, ending] = [site, listening];
  count += 1;
  const next = await evaluated(`../assets-${count}/`, address);
  if (!next) return;
  if (before && !canDefine(next.elements)) return location.reload();
  ending?.abort();
  defineAll(next.elements);
  if (!before) return;
  await next.take(before.leave());
  await renew(next.redraw);
}

/** Run a bundle; if it fails, what ran before goes on. @param {string} folder @param {string} address @returns {Promise<Site | undefined>} */
async function evaluated(folder, address) {
  const before = listening;
  const { searchParams } = new URL(address, location.href);
  listening = new AbortController();
  // A name that the bundler has left for the page to give.
  Object.assign(globalThis, { WIKI_WORKER: searchParams.get("worker") });
  try {
    ({ site } = /** @type {{site: Site}} */ (await import(new URL(folder + searchParams.get("site"), import.meta.url).href)));
    return site;
  } catch (error) {
    listening.abort();
    listening = before;
    tellFault(error);
    return undefined;
  }
}

/** @param {string[]} names */
export async function recompute(names) {
  await site?.recompute(names);
}

/** @param {WikiCalculator} element */
export async function refresh(element) {
  await site?.refresh(element);
}

/** From now on the server is told what the scripts throw. */
export function listenForFaults() {
  addEventListener("error", ({ error }) => tellFault(error));
  addEventListener("unhandledrejection", ({ reason }) => tellFault(reason));
}
