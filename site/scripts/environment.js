/** What this page is and what its device allows: asked here, once, and nowhere else. */

import { SPARE_MEMORY } from "./constants.js";

/** Address of a worker's script and of the runtime's manifest: written in by the build. */
const worker = WIKI_WORKER;
const manifest = WIKI_MANIFEST;

/** The site's root: this script lies in its folder `assets`. */
export const base = new URL("../", import.meta.url).href;
export const workerAddress = base + worker;
export const manifestAddress = base + manifest;
export const runtimeBase = base + "runtime/";

/** The page's language as addresses and file names spell it: the first folder under the root. */
export const language = location.href.slice(base.length).split(/[/?#]/)[0] || "en";

/** The hash of the build that this page belongs to. */
export function build() {
  return document.querySelector('meta[name="wiki-build"]')?.getAttribute("content") ?? "";
}

/** @typedef {{saveData?: boolean}} Connection */
/** @typedef {Navigator & {connection?: Connection, deviceMemory?: number, userAgentData?: {mobile: boolean}}} Device */

const device = /** @type {Device} */ (navigator);

export function savesData() {
  return Boolean(device.connection?.saveData);
}

/** Whether the page is being looked at: not hidden, not made ready in advance. */
export function isSeen() {
  return document.visibilityState === "visible" && !("prerendering" in document && document.prerendering);
}

/** Resolves once the page is being looked at. */
export function seen() {
  return /** @type {Promise<void>} */ (
    new Promise((resolve) => {
      const check = () => {
        if (!isSeen()) return;
        for (const name of EVENTS) document.removeEventListener(name, check);
        resolve();
      };
      const EVENTS = ["visibilitychange", "prerenderingchange"];
      for (const name of EVENTS) document.addEventListener(name, check);
      check();
    })
  );
}

/** A second worker waits only where memory is ample, and never on a phone. */
export function allowsSpare() {
  const isPhone = device.userAgentData?.mobile ?? matchMedia("(pointer: coarse)").matches;
  return !isPhone && (device.deviceMemory ?? 0) >= SPARE_MEMORY && !savesData();
}

/** Call `action` when the browser has nothing better to do. @param {() => void} action @param {number} limit */
export function whenIdle(action, limit) {
  if ("requestIdleCallback" in window) window.requestIdleCallback(action, { timeout: limit });
  else setTimeout(action, 200);
}
