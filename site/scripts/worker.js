/** The page's Python: one worker, started by a `boot` message, then one answer per request. */

import { reasonOf, startPython } from "./boot.js";
import { MESSAGES, REASONS } from "./constants.js";
import { fetchData, neededBy } from "./data-files.js";
import { StartError } from "./files.js";
import { hasRoomFor } from "./room.js";

/** @typedef {import("./boot.js").Boot} Boot */
/** @typedef {{kind: string, id: number, request: string}} Request */

const scope = /** @type {DedicatedWorkerGlobalScope} */ (/** @type {unknown} */ (self));

/** The first answer takes tens of milliseconds, the next ones less and less. */
const REHEARSALS = 3;

/** @type {((request: string) => string) | undefined} */
let respond;
/** @type {((names: string[], report: (loaded: number, total: number) => void) => Promise<string[]>) | undefined} */
let fetchNeeded;
/** Keeps the snapshot of this start, until it is kept. @type {(() => Promise<void>) | undefined} */
let keep;

/** @param {Boot} boot @param {string | undefined} rehearsal */
async function start(boot, rehearsal) {
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
    if (rehearsal) rehearse(rehearsal);
    keep = started.keep;
    await store();
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    scope.postMessage({ kind: MESSAGES.failed, reason: reasonOf(error), detail });
  }
}

/** Answer to nobody; a reader's request that is on its way would do the same work first. @param {string} request */
function rehearse(request) {
  try {
    for (let i = 0; i < REHEARSALS; i += 1) respond?.(request);
  } catch {
    // Whoever asks this is told.
  }
  scope.postMessage({ kind: MESSAGES.rehearsed });
}

/** Keep the snapshot. Where there is no room the page says so, and may ask again. */
async function store() {
  const hasRoom = !keep || (await hasRoomFor(keep));
  if (hasRoom) keep = undefined;
  scope.postMessage({ kind: MESSAGES.stored, hasRoom });
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
    scope.postMessage({ kind: MESSAGES.error, id, reason: reasonOfRun(error), detail });
  }
}

/** @param {unknown} error */
function reasonOfRun(error) {
  const reason = reasonOf(error);
  if (error instanceof StartError) return reason;
  return reason === REASONS.memory ? REASONS.runMemory : REASONS.python;
}

scope.addEventListener("message", ({ data }) => {
  if (data.kind === MESSAGES.boot) void start(data.boot, data.rehearsal);
  else if (data.kind === MESSAGES.store) void store();
  else void answer(data);
});
