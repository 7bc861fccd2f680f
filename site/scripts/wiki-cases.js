/** `<wiki-cases>`: the case book by topic; the chosen topics stand in the address. */

import { onMove, remember, stateOf } from "./address.js";
import { decodeInputs, encodeInputs } from "./codec.js";
import { say } from "./words.js";

const SCHEMA = Object.freeze({ topic: { type: "array", items: { type: "string" } } });

export class WikiCases extends HTMLElement {
  connectedCallback() {
    this.addEventListener("change", () => this.#chosen());
    this.addEventListener("submit", (event) => event.preventDefault());
    onMove(() => this.#readAddress());
    this.#readAddress();
  }

  get #boxes() {
    return /** @type {HTMLInputElement[]} */ ([...this.querySelectorAll(".case-filter [name=topic]")]);
  }

  #readAddress() {
    const topic = decodeInputs(stateOf(this.id || "cases") ?? "", SCHEMA)["topic"] ?? [];
    for (const box of this.#boxes) box.checked = topic.includes(box.value);
    this.#filter();
  }

  #chosen() {
    const topic = this.#boxes.filter((box) => box.checked).map((box) => box.value);
    remember(this.id || "cases", encodeInputs({ topic }, { topic: [] }, SCHEMA), "topic", true);
    this.#filter();
  }

  /** No topic chosen means all of them. */
  #filter() {
    const topics = new Set(this.#boxes.filter((box) => box.checked).map((box) => box.value));
    const cases = /** @type {HTMLElement[]} */ ([...this.querySelectorAll("[data-topic]")]);
    for (const item of cases) item.hidden = topics.size > 0 && !topics.has(item.dataset["topic"] ?? "");
    const status = this.querySelector("[data-status]");
    const count = cases.filter((item) => !item.hidden).length;
    if (status) status.textContent = topics.size ? say("cases_shown", { count, total: cases.length }) : "";
  }
}
