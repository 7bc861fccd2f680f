/**
 * The workers of the site's scripts while they are edited: Python goes on although the scripts around
 * it are replaced. A worker that has started and has nothing to do is handed from one bundle to the
 * next, which believes that it has started it.
 */

import { MESSAGES } from "../constants.js";
import { workerAddress } from "../environment.js";
import { tellWorkerFault } from "./faults.js";

const Plain = globalThis.Worker;

/** Those of this bundle. @type {Set<KeptWorker>} */
const own = new Set();
/** Those of the bundle before, until they are asked for. @type {KeptWorker[]} */
let left = [];

class KeptWorker extends Plain {
  /** What it said when it had started. @type {unknown} */
  ready = undefined;
  running = 0;

  /** @param {string} address @param {WorkerOptions} [options] */
  constructor(address, options) {
    super(address, options);
    this.address = address;
    // Not a listener: those end with the bundle that has set them.
    this.onmessage = (/** @type {MessageEvent} */ { data }) => {
      if (data.kind === MESSAGES.ready) this.ready = data;
      if (data.kind === MESSAGES.answer || data.kind === MESSAGES.error) this.running -= 1;
    };
    this.onerror = tellWorkerFault;
  }

  /** @param {any} message @override */
  postMessage(message) {
    if (message.kind === MESSAGES.boot && this.ready) {
      queueMicrotask(() => this.dispatchEvent(new MessageEvent("message", { data: this.ready })));
      return;
    }
    if (message.kind === MESSAGES.respond) this.running += 1;
    super.postMessage(message);
  }

  /** @override */
  terminate() {
    own.delete(this);
    super.terminate();
  }
}

/** `new Worker(…)` of the site's scripts. @param {string} address @param {WorkerOptions} [options] */
export function Worker(address, options) {
  const worker = left.pop() ?? new KeptWorker(address, options);
  own.add(worker);
  return worker;
}

/** Those that another bundle may go on with; the others end. @returns {KeptWorker[]} */
export function leaveWorkers() {
  const all = [...left, ...own];
  const kept = all.filter(({ ready, running }) => ready && running === 0);
  for (const worker of all) if (!kept.includes(worker)) worker.terminate();
  own.clear();
  left = [];
  return kept;
}

/** Go on with the workers of the bundle before, if their script is still the same. @param {KeptWorker[]} workers @returns {boolean} whether there is one */
export function takeWorkers(workers) {
  left = workers.filter(({ address }) => address === workerAddress);
  for (const worker of workers) if (!left.includes(worker)) worker.terminate();
  return left.length > 0;
}
