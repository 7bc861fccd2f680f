/** `<wiki-exercise>`: checks a number the reader gives; it keeps nothing. */

import { say } from "./words.js";

const DIGITS = 6;

/** The number in a reader's words: a minus sign of print, a comma for a point, spaces. @param {string} text */
export function readNumber(text) {
  const plain = text.trim().replace(/[\u2212\u2013]/g, "-").replace(/\s/g, "").replace(/^([^.,]*),([^.,]*)$/, "$1.$2");
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : undefined;
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
    const given = readNumber(box.value);
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
