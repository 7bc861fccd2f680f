/**
 * The site's own scripts as the editor's server bundles them: all that a published page runs, and
 * what the editor's part of the page (dev/scripts.js) asks of them.
 */

import "../main.js";
import "../theme.js";
import { runtime } from "../runtime.js";
import { edited, recompute, redraw, refresh } from "./calculators.js";
import { elements, endScope } from "./scope.js";
import { leaveWorkers, takeWorkers } from "./workers.js";

/** @typedef {{isStarted: boolean, workers: ReturnType<typeof leaveWorkers>, edited: Iterable<string>}} Legacy */

/** End what these scripts do; what others can go on with. @returns {Legacy} */
function leave() {
  endScope();
  return { isStarted: runtime.state !== "off", workers: leaveWorkers(), edited };
}

/** Go on where other scripts have left; resolves when Python answers, or is not there yet. @param {Legacy} legacy */
async function take(legacy) {
  for (const name of legacy.edited) edited.add(name);
  const isThere = takeWorkers(legacy.workers);
  if (!legacy.isStarted) return;
  runtime.start();
  if (isThere) await new Promise((resolve) => runtime.addEventListener("state", resolve, { once: true }));
}

export const site = { elements, leave, take, recompute, redraw, refresh };
