/** Names and numbers that more than one script uses. */

export const TAGS = Object.freeze({
  calculator: "wiki-calculator",
  record: "wiki-record",
  exercise: "wiki-exercise",
  figure: "wiki-figure",
  term: "wiki-term",
  search: "wiki-search",
  cases: "wiki-cases",
  contents: "wiki-contents",
});

/** What a calculator's `data-state` may say. */
export const STATES = Object.freeze({
  static: "static",
  starting: "starting",
  live: "live",
  computing: "computing",
  unavailable: "unavailable",
});

/** Kinds of messages between the page and its worker. */
export const MESSAGES = Object.freeze({
  boot: "boot",
  progress: "progress",
  ready: "ready",
  rehearsed: "rehearsed",
  failed: "failed",
  respond: "respond",
  recompute: "recompute",
  answer: "answer",
  data: "data",
  fetched: "fetched",
  error: "error",
  stored: "stored",
  store: "store",
});

/** Why Python cannot run; each has a sentence in every language. */
export const REASONS = Object.freeze({
  webassembly: "webassembly",
  file: "file",
  hash: "hash",
  snapshot: "snapshot",
  memory: "memory",
  runMemory: "run_memory",
  timeout: "timeout",
  python: "python",
  worker: "worker",
});

/** Milliseconds. */
export const LIMITS = Object.freeze({
  run: 10_000,
  /** From the last byte of the runtime to an answer; seconds are usual, a hang is given up. */
  stall: 60_000,
  /** An answer that takes longer is waited for in words. */
  patience: 150,
  historyPause: 300,
  sameEdit: 800,
  idleStart: 2_000,
  spareDelay: 3_000,
});

/** Gigabytes of memory that allow a second worker in waiting. */
export const SPARE_MEMORY = 8;

export const CACHES = Object.freeze({ prefix: "wiki-", snapshot: "wiki-snapshot" });

/** Kinds of messages between a page and the service worker. */
export const SERVICE = Object.freeze({
  keep: "keep",
  language: "language",
  build: "build",
  takeOver: "take-over",
  room: "room",
});
