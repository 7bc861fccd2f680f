/** `<wiki-exercise>`: checks a number the reader gives; it keeps nothing. */

import { readings } from "./numbers.js";
import { say } from "./words.js";

const DIGITS = 6;

/** The number that `text` gives: of two that it may mean, the one nearer to `expected`. @param {string} text @param {number} expected */
export function readAnswer(text, expected) {
  const distance = (/** @type {number} */ value) => Math.abs(value - expected);
  return readings(text).sort((a, b) => distance(a) - distance(b))[0];
}

/** Whether `given` answers `expected` within a tolerance relative to it (absolute near zero). @param {number} given @param {number} expected @param {number} tolerance */
export function isRight(given, expected, tolerance) {
  return Math.abs(given - expected) <= tolerance * Math.max(1, Math.abs(expected));
}

export class WikiExercise extends HTMLElement {
  connectedCallback() {
    this.querySelector("[data-form]")?.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#check();
    });
  }

  #check() {
    const box = /** @type {HTMLInputElement} */ (this.querySelector("[name=answer]"));
    const verdict = /** @type {HTMLElement} */ (this.querySelector("[data-verdict]"));
    const expected = Number(JSON.parse(this.dataset["answer"] ?? "null"));
    const given = readAnswer(box.value, expected);
    box.toggleAttribute("aria-invalid", given === undefined);
    if (given === undefined) {
      box.setAttribute("aria-invalid", "true");
      verdict.dataset["outcome"] = "wrong";
      verdict.textContent = say("answer_empty");
      return;
    }
    const right = isRight(given, expected, Number(this.dataset["tolerance"] || 1e-6));
    const value = box.value.trim();
    verdict.dataset["outcome"] = right ? "right" : "wrong";
    verdict.textContent = right
      ? say("answer_right", { value })
      : say("answer_wrong", { value, difference: Number((given - expected).toPrecision(DIGITS)) });
  }
}
