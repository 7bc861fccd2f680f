/** The page's Python: one worker, started by a `boot` message, then one answer per request. */

import { reasonOf, startPython } from "./boot.js";
import { MESSAGES, REASONS } from "./constants.js";
import { fetchData, neededBy } from "./data-files.js";
import { StartError } from "./files.js";

/** @typedef {import("./boot.js").Boot} Boot */
/** @typedef {{kind: string, id: number, request: string}} Request */

const scope = /** @type {DedicatedWorkerGlobalScope} */ (/** @type {unknown} */ (self));

/** @type {((request: string) => string) | undefined} */
let respond;
/** @type {((names: string[], report: (loaded: number, total: number) => void) => Promise<string[]>) | undefined} */
let fetchNeeded;

/** @param {Boot} boot */
async function start(boot) {
  let last = 0;
  try {
    const started = await startPython(boot, (loaded, total) => {
      const now = performance.now();
      if (now - last < 50 && loaded < total) return;
      last = now;
      scope.postMessage({ kind: MESSAGES.progress, loaded, total });
    });
    respond = started.respond;
    fetchNeeded = (names, report) => fetchData(started.python, boot, names, report);
    scope.postMessage({ kind: MESSAGES.ready, urls: started.urls, isWarm: started.isWarm });
    await started.keep?.().then(
      () => scope.postMessage({ kind: MESSAGES.stored, isStored: true }),
      (error) => scope.postMessage({ kind: MESSAGES.stored, isStored: false, detail: String(error) }),
    );
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    scope.postMessage({ kind: MESSAGES.failed, reason: reasonOf(error), detail });
  }
}

/** Answer; data that the calculator turns out to need are fetched first. @param {Request} message */
async function answer({ id, request }) {
  try {
    if (!respond || !fetchNeeded) throw new Error("Python has not started");
    let found = respond(request);
    const names = neededBy(found);
    if (names) {
      const report = (/** @type {number} */ loaded, /** @type {number} */ total) =>
        scope.postMessage({ kind: MESSAGES.data, id, loaded, total });
      scope.postMessage({ kind: MESSAGES.fetched, urls: await fetchNeeded(names, report) });
      found = respond(request);
    }
    scope.postMessage({ kind: MESSAGES.answer, id, answer: found });
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    const isKnown = error instanceof StartError || reasonOf(error) === REASONS.memory;
    scope.postMessage({ kind: MESSAGES.error, id, reason: isKnown ? reasonOf(error) : REASONS.python, detail });
  }
}

scope.addEventListener("message", ({ data }) => {
  if (data.kind === MESSAGES.boot) void start(data.boot);
  else void answer(data);
});
