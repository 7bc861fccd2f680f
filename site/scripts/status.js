/** What a calculator says of itself: its state in the bar, and in words what cannot be done. */

import { REASONS, STATES } from "./constants.js";
import { language, savesData } from "./environment.js";
import { runtime } from "./runtime.js";
import { say } from "./words.js";

const MEGABYTE = 1_000_000;
const SEPARATOR = " \u00b7 ";

/** @param {number} bytes */
function megabytes(bytes) {
  return (bytes / MEGABYTE).toFixed(1);
}

/** What a calculator's `data-state` says. @param {boolean} isIdle whether the result shown is the one wanted */
export function stateNow(isIdle) {
  if (runtime.state === "failed") return STATES.unavailable;
  if (runtime.state === "off") return STATES.static;
  if (runtime.state === "starting") return STATES.starting;
  return isIdle ? STATES.live : STATES.computing;
}

/** @param {string} state @param {string} owner */
function statusText(state, owner) {
  const waits = runtime.fetching;
  if (waits?.owner === owner && waits.loaded < waits.total) {
    return say("fetching_bytes", { loaded: megabytes(waits.loaded), total: megabytes(waits.total) });
  }
  if (state === STATES.starting) {
    const { loaded, total } = runtime.progress;
    return total && loaded < total
      ? say("starting_bytes", { loaded: megabytes(loaded), total: megabytes(total) })
      : say("starting");
  }
  return state === STATES.static ? "" : say(state);
}

/**
 * Show the state of calculator `owner`, and that its answer was computed with the page; where the
 * device asks to save data, a button starts Python.
 * @param {HTMLElement} status @param {{state: string, owner: string, isPrecomputed: boolean}} told @param {() => void} start
 */
export function showStatus(status, { state, owner, isPrecomputed }, start) {
  const asks = state === STATES.static && savesData();
  const words = [isPrecomputed ? say("precomputed") : "", asks ? say("start") : statusText(state, owner)];
  const text = words.filter(Boolean).join(SEPARATOR);
  if (status.textContent === text && asks === Boolean(status.querySelector("button"))) return;
  if (!asks) status.textContent = text;
  else status.replaceChildren(text.slice(0, -say("start").length), textButton(say("start"), start));
}

/** @param {string} text @param {() => void} action */
export function textButton(text, action) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "text-button";
  button.textContent = text;
  button.addEventListener("click", action);
  return button;
}

/**
 * The message of a failure, with what to do, and a traceback folded.
 * @param {import("./runtime.js").RuntimeError} error @param {() => void} retry
 * @param {string[]} open labels of the controls whose answers were computed with the page
 * @returns {(string | Node)[]}
 */
export function failureMessage(error, retry, open) {
  /** @type {(string | Node)[]} */
  const parts = [say(`failed_${error.reason}`, { detail: error.detail }), " "];
  if (open.length) {
    const controls = new Intl.ListFormat(language, { type: "conjunction" }).format(open);
    parts.push(say("precomputed_controls", { controls }), " ");
  }
  const isFinal = error.reason === REASONS.timeout || error.reason === REASONS.python;
  if (!isFinal) parts.push(textButton(say("retry"), retry));
  if (error.reason === REASONS.python) {
    const details = document.createElement("details");
    const summary = document.createElement("summary");
    const trace = document.createElement("pre");
    summary.textContent = say("traceback");
    trace.textContent = error.detail;
    trace.tabIndex = 0;
    details.append(summary, trace);
    parts.push(details);
  }
  return parts;
}

/** The sentences below a calculator's result. */
export class Message {
  /** Whether a restart takes them away. */
  isAboutRuntime = false;

  /** @param {HTMLElement} element @param {string} owner */
  constructor(element, owner) {
    this.element = element;
    element.id ||= `${owner}-message`;
    element.setAttribute("role", "status");
  }

  /** @param {(string | Node)[]} parts @param {boolean} [isAboutRuntime] */
  say(parts, isAboutRuntime = false) {
    this.isAboutRuntime = isAboutRuntime;
    if (this.element.hidden && !parts.length) return;
    this.element.hidden = parts.length === 0;
    this.element.replaceChildren(...parts);
  }
}
