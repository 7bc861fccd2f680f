/** The page's Python: one worker, started by a `boot` message, then one answer per request. */

import { reasonOf, startPython } from "./boot.js";
import { MESSAGES, REASONS } from "./constants.js";

/** @typedef {import("./boot.js").Boot} Boot */
/** @typedef {{kind: string, id: number, request: string}} Request */

const scope = /** @type {DedicatedWorkerGlobalScope} */ (/** @type {unknown} */ (self));

/** @type {((request: string) => string) | undefined} */
let respond;

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

/** @param {Request} message */
function answer({ id, request }) {
  try {
    if (!respond) throw new Error("Python has not started");
    scope.postMessage({ kind: MESSAGES.answer, id, answer: respond(request) });
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    const reason = reasonOf(error) === REASONS.memory ? REASONS.memory : REASONS.python;
    scope.postMessage({ kind: MESSAGES.error, id, reason, detail });
  }
}

scope.addEventListener("message", ({ data }) => {
  if (data.kind === MESSAGES.boot) void start(data.boot);
  else answer(data);
});
