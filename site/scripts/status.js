/** What a calculator says of itself: its state in the bar, and in words what cannot be done. */

import { REASONS, STATES } from "./constants.js";
import { savesData } from "./environment.js";
import { runtime } from "./runtime.js";
import { say } from "./words.js";

const MEGABYTE = 1_000_000;

/** @param {number} bytes */
function megabytes(bytes) {
  return (bytes / MEGABYTE).toFixed(1);
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

/** Show the state of calculator `owner`; where the device asks to save data, a button starts Python. @param {HTMLElement} status @param {string} state @param {string} owner @param {() => void} start */
export function showStatus(status, state, owner, start) {
  const asks = state === STATES.static && savesData();
  const text = statusText(state, owner);
  if (asks && !status.querySelector("button")) status.replaceChildren(textButton(say("start"), start));
  else if (!asks && status.textContent !== text) status.textContent = text;
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
 * @returns {(string | Node)[]}
 */
export function failureMessage(error, retry) {
  /** @type {(string | Node)[]} */
  const parts = [say(`failed_${error.reason}`, { detail: error.detail }), " "];
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
