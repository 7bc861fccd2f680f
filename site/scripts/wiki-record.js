/**
 * `<wiki-record>`: holds a record to account. Its file is fetched, the SHA-256 of its canonical
 * JSON (RFC 8785, without `record_sha256`) is computed here and compared with what the record
 * says and with what the page was built with. Where the card maps the record to a calculator
 * (`data-recompute`), numpy in this page computes the same numbers again.
 */

import { build, language } from "./environment.js";
import { sha256 } from "./files.js";
import { runtime } from "./runtime.js";
import { say } from "./words.js";

/** @typedef {{calculator: string, inputs: Record<string, any>, pairs: [string, string][]}} Recompute */

/** A value inside JSON by a path such as results.variant.values[0]. @param {any} body @param {string} path */
export function valueAt(body, path) {
  return path.split(/[.[\]]+/).filter(Boolean).reduce((found, key) => found?.[key], body);
}

/** The hash a record should state of itself. @param {Record<string, any>} record */
export async function recordHash(record) {
  const { default: canonicalize } = await import("canonicalize");
  const { record_sha256: _stated, ...rest } = record;
  const text = canonicalize(rest) ?? "";
  return sha256(new TextEncoder().encode(text));
}

export class WikiRecord extends HTMLElement {
  connectedCallback() {
    this.querySelector("[data-action=check]")?.addEventListener("click", () => this.#check());
    this.querySelector("[data-action=recompute]")?.addEventListener("click", () => this.#recompute());
  }

  async #fetch() {
    // The build's hash keeps a newer site's record from standing in for this page's.
    const response = await fetch(`${this.dataset["src"]}?build=${build()}`);
    if (!response.ok) throw new Error(String(response.status));
    return response.text();
  }

  async #check() {
    this.#say(say("record_checking"), "");
    let text;
    try {
      text = await this.#fetch();
    } catch (error) {
      return this.#say(say("record_missing", { detail: detailOf(error) }), "missing");
    }
    try {
      const record = JSON.parse(text);
      this.#judge(String(record.record_sha256), await recordHash(record));
    } catch (error) {
      this.#say(say("record_invalid", { detail: detailOf(error) }), "mismatch");
    }
  }

  /** @param {string} stated @param {string} computed */
  #judge(stated, computed) {
    const expected = this.dataset["sha256"] ?? "";
    if (stated !== computed) this.#say(say("record_differs", { stated, computed }), "mismatch");
    else if (computed !== expected) this.#say(say("record_other", { computed, expected }), "mismatch");
    else this.#say(say("record_matches", { hash: computed }), "match");
  }

  async #recompute() {
    /** @type {Recompute[]} */
    const tasks = JSON.parse(this.dataset["recompute"] ?? "[]");
    this.#say(say("starting"), "");
    try {
      const record = JSON.parse(await this.#fetch());
      const lines = [];
      for (const { calculator, inputs, pairs } of tasks) {
        const answer = await runtime.request(this.id, { calculator, inputs, language });
        if (!answer?.ok) throw new Error(answer?.message ?? "");
        for (const [there, here] of pairs) {
          lines.push(compare(there, valueAt(record, there), valueAt(answer.values, here)));
        }
      }
      this.#say(lines.join("\n"), "computed");
    } catch (error) {
      this.#say(say("recompute_failed", { detail: detailOf(error) }), "missing");
    }
  }

  /** @param {string} text @param {string} outcome match, mismatch, missing, computed or nothing */
  #say(text, outcome) {
    const message = /** @type {HTMLElement} */ (this.querySelector("[data-message]"));
    message.dataset["outcome"] = outcome;
    message.hidden = false;
    message.textContent = text;
  }
}

/** Both numbers (or lists of them) and the largest difference. @param {string} path @param {any} record @param {any} here */
function compare(path, record, here) {
  const [there = [], own = []] = [record, here].map((value) => [value].flat(Infinity).map(Number));
  const largest = Math.max(...there.map((value, i) => Math.abs(value - (own[i] ?? NaN))));
  const words = { here: JSON.stringify(here), record: JSON.stringify(record), difference: largest.toPrecision(2) };
  return `${path}: ${say("recompute_same", words)}`;
}

/** @param {unknown} error */
function detailOf(error) {
  return error instanceof Error ? error.message : String(error);
}
