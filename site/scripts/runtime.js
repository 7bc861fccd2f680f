/**
 * The page's side of its Python worker: starts it, asks it, replaces it.
 *
 * A worker answers one request at a time. While one runs, only the newest request of each
 * calculator waits; what it replaced is never run, and an answer that is no longer the newest is
 * dropped. A run over the limit ends its worker, for Python itself cannot be interrupted here.
 */

import { LIMITS, MESSAGES, REASONS } from "./constants.js";
import { allowsSpare, isSeen, language, manifestAddress, runtimeBase, seen, whenIdle, workerAddress } from "./environment.js";
import { dropSnapshots } from "./snapshot.js";

/** @typedef {{resolve: (answer: any) => void, reject: (error: RuntimeError) => void, owner: string, request: string}} Job */
/** @typedef {{worker: Worker, isReady: boolean}} Seat */

/** Why Python could not answer: a key of REASONS, and details for who wants them. */
export class RuntimeError extends Error {
  /** @param {string} reason @param {string} [detail] */
  constructor(reason, detail = "") {
    super(detail || reason);
    this.reason = reason;
    this.detail = detail;
  }
}

/** What Python is asked for a calculator's `inputs`. @param {import("./wiki-calculator.js").Spec} spec @param {unknown} inputs */
export function requestOf({ name, language, show, hide, plot }, inputs) {
  return { calculator: name, inputs, language, show, hide, plot };
}

/** Tells `state` (off, starting, ready, failed), `progress`, `fetched` and `room` (for a snapshot). */
export class Runtime extends EventTarget {
  /** @type {"off" | "starting" | "ready" | "failed"} */
  state = "off";
  progress = { loaded: 0, total: 0 };
  /** Data that a calculator (`owner`) waits for. @type {{owner: string, loaded: number, total: number} | undefined} */
  fetching;
  /** @type {RuntimeError | undefined} */
  failure;
  /** @type {string[]} */
  urls = [];
  isWarm = false;
  /** A request that a worker answers to itself when it has started: the first answer takes longest. @type {unknown} */
  rehearsal;

  /** @type {Seat | undefined} */
  #seat;
  /** @type {Seat | undefined} */
  #spare;
  /** @type {any} */
  #manifest;
  /** @type {Map<string, Job>} */
  #waiting = new Map();
  /** @type {(Job & {id: number, timer: number}) | undefined} */
  #running;
  #lastId = 0;

  /** Start Python unless it runs, starts or is known to fail; in a page that nobody sees, later. */
  start() {
    if (this.state !== "off") return;
    if (!isSeen()) {
      void seen().then(() => this.start());
      return;
    }
    this.#set("starting");
    void this.#boot(true);
  }

  /** Try again after a failure. */
  restart() {
    if (this.state === "failed") this.#set("off");
    this.start();
  }

  /**
   * Ask; resolves with the answer, or with undefined when a newer request took its place.
   * @param {string} owner the calculator's id
   * @param {unknown} body
   * @returns {Promise<any>}
   */
  request(owner, body) {
    this.start();
    if (this.failure && this.state === "failed") return Promise.reject(this.failure);
    this.#waiting.get(owner)?.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#waiting.set(owner, { resolve, reject, owner, request: JSON.stringify(body) });
      this.#next();
    });
  }

  /** @param {Runtime["state"]} state */
  #set(state) {
    this.state = state;
    this.dispatchEvent(new Event("state"));
  }

  /** @param {boolean} withSnapshot */
  async #boot(withSnapshot) {
    if (typeof WebAssembly !== "object") return this.#fail(new RuntimeError(REASONS.webassembly));
    try {
      this.#manifest ??= await readManifest();
    } catch (error) {
      return this.#fail(new RuntimeError(REASONS.file, String(error)));
    }
    this.#seat = this.#open(withSnapshot, true);
  }

  /** @param {boolean} withSnapshot @param {boolean} isFirst @returns {Seat} */
  #open(withSnapshot, isFirst) {
    const worker = new Worker(workerAddress, { type: "module" });
    const seat = { worker, isReady: false };
    let timer = 0;
    worker.addEventListener("message", ({ data }) => {
      clearTimeout(timer);
      if (data.kind === MESSAGES.progress && data.loaded >= data.total) {
        const reason = withSnapshot ? REASONS.snapshot : REASONS.worker;
        timer = setTimeout(() => this.#startFailed(seat, reason, "no answer"), LIMITS.stall);
      }
      this.#hear(seat, data);
    });
    worker.addEventListener("error", (event) => {
      clearTimeout(timer);
      event.preventDefault();
      this.#startFailed(seat, REASONS.worker, event.message ?? "the worker's script did not load");
    });
    const boot = { base: runtimeBase, manifest: this.#manifest, language, withSnapshot };
    const rehearsal = this.rehearsal ? JSON.stringify(this.rehearsal) : undefined;
    worker.postMessage({ kind: MESSAGES.boot, boot, rehearsal });
    if (isFirst) performance.mark("wiki-start");
    return seat;
  }

  /** @param {Seat} seat @param {any} data */
  #hear(seat, data) {
    if (seat !== this.#seat && seat !== this.#spare) return;
    if (data.kind === MESSAGES.progress && seat === this.#seat && this.state === "starting") {
      this.progress = { loaded: data.loaded, total: data.total };
      this.dispatchEvent(new Event("progress"));
    } else if (data.kind === MESSAGES.ready) {
      seat.isReady = true;
      if (seat === this.#seat) this.#ready(data);
    } else if (data.kind === MESSAGES.rehearsed) {
      performance.mark(seat === this.#seat ? "wiki-rehearsed" : "wiki-spare");
    } else if (data.kind === MESSAGES.failed) {
      this.#startFailed(seat, data.reason, data.detail);
    } else if (data.kind === MESSAGES.stored) {
      this.dispatchEvent(new CustomEvent("room", { detail: data.hasRoom }));
    } else if (data.kind === MESSAGES.fetched) {
      this.urls = [...this.urls, ...data.urls];
      this.dispatchEvent(new Event("fetched"));
    } else if (data.kind === MESSAGES.data && data.id === this.#running?.id) {
      this.#fetching(data);
    } else if (data.id !== undefined && data.id === this.#running?.id) {
      this.#finish(data);
    }
  }

  /** @param {{urls: string[], isWarm: boolean}} data */
  #ready({ urls, isWarm }) {
    this.urls = urls;
    this.isWarm = isWarm;
    this.failure = undefined;
    performance.mark("wiki-ready", { detail: { isWarm } });
    this.#set("ready");
    this.#next();
    this.#prepareSpare();
  }

  #prepareSpare() {
    if (this.#spare || !allowsSpare()) return;
    setTimeout(() => whenIdle(() => {
      if (!this.#spare && this.state === "ready") this.#spare = this.#open(true, false);
    }, LIMITS.spareDelay), LIMITS.spareDelay);
  }

  /** @param {Seat} seat @param {string} reason @param {string} detail */
  #startFailed(seat, reason, detail) {
    if (seat !== this.#seat && seat !== this.#spare) return;
    seat.worker.terminate();
    if (seat === this.#spare) {
      this.#spare = undefined;
    } else if (reason === REASONS.snapshot) {
      void dropSnapshots();
      this.#seat = this.#open(false, true);
    } else {
      this.#fail(new RuntimeError(reason, detail));
    }
  }

  /** @param {RuntimeError} error */
  #fail(error) {
    this.#seat?.worker.terminate();
    this.#seat = undefined;
    this.failure = error;
    this.#set("failed");
    const jobs = [...this.#waiting.values()];
    this.#waiting.clear();
    if (this.#running) jobs.push(this.#running);
    this.#endRun();
    for (const job of jobs) job.reject(error);
  }

  #next() {
    const seat = this.#seat;
    if (!seat?.isReady || this.#running) return;
    const [job] = this.#waiting.values();
    if (!job) return;
    this.#waiting.delete(job.owner);
    this.#lastId += 1;
    const timer = setTimeout(() => this.#overrun(), LIMITS.run);
    this.#running = { ...job, id: this.#lastId, timer };
    seat.worker.postMessage({ kind: MESSAGES.respond, id: this.#lastId, request: job.request });
  }

  /** The run waits for data that it needs: its time starts anew with every piece that comes. @param {{loaded: number, total: number}} data */
  #fetching({ loaded, total }) {
    const job = this.#running;
    if (!job) return;
    clearTimeout(job.timer);
    job.timer = setTimeout(() => this.#overrun(), loaded < total ? LIMITS.stall : LIMITS.run);
    this.fetching = { owner: job.owner, loaded, total };
    this.dispatchEvent(new Event("progress"));
  }

  #endRun() {
    clearTimeout(this.#running?.timer);
    this.fetching = undefined;
    this.#running = undefined;
  }

  /** @param {{kind: string, answer: string, reason: string, detail: string, isSound: boolean}} data */
  #finish({ kind, answer, reason, detail, isSound }) {
    const job = /** @type {Job} */ (this.#running);
    this.#endRun();
    if (kind === MESSAGES.answer) {
      job.resolve(this.#waiting.has(job.owner) ? undefined : JSON.parse(answer));
    } else {
      job.reject(new RuntimeError(reason, detail));
      if (!isSound) this.#replace();
    }
    this.#next();
  }

  #overrun() {
    const job = this.#running;
    this.#endRun();
    job?.reject(new RuntimeError(REASONS.timeout));
    this.#replace();
    this.#next();
  }

  /** End the worker and go on with the spare one, or with a new one. */
  #replace() {
    this.#seat?.worker.terminate();
    const spare = this.#spare;
    this.#spare = undefined;
    this.#seat = spare ?? this.#open(true, true);
    if (spare?.isReady) this.#prepareSpare();
    else this.#set("starting");
  }

  /** Try again to keep the snapshot for which there was no room. */
  store() {
    if (this.#seat?.isReady) this.#seat.worker.postMessage({ kind: MESSAGES.store });
  }

  /** End the worker as an overrun does; for who wants to stop waiting. */
  stop() {
    if (this.#running) this.#overrun();
  }
}

async function readManifest() {
  const response = await fetch(manifestAddress);
  if (!response.ok) throw new Error(`${manifestAddress}: ${response.status}`);
  return response.json();
}

/** The one runtime of this page. */
export const runtime = new Runtime();
