/**
 * `<wiki-calculator>`: complete HTML that comes alive. The inputs the controls show and the result
 * beside them always belong together, or the result is marked stale and a sentence says why.
 */

import { correct, isLinkedTo, onMove, remember, stateOf } from "./address.js";
import { announcer } from "./announce.js";
import { decodeInputs, encodeInputs, isSame } from "./codec.js";
import { LIMITS, STATES } from "./constants.js";
import { Controls } from "./controls.js";
import { watchEdits } from "./edits.js";
import { savesData } from "./environment.js";
import { Grid } from "./grid.js";
import { openPanel, refreshPanel } from "./panels.js";
import { preparePlots, showResult } from "./result.js";
import { requestOf, runtime } from "./runtime.js";
import { Message, failureMessage, showStatus, stateNow } from "./status.js";
import { say } from "./words.js";

/** @typedef {import("./codec.js").Inputs} Inputs */
/** @typedef {{id: string, name: string, schema: {properties: Record<string, any>}, inputs: Inputs, language: string, show: string[] | null, hide: string[], plot: string | null, grid?: {file: string, inputs: string[]}}} Spec */

export class WikiCalculator extends HTMLElement {
  /** @type {Spec} */ spec = JSON.parse(this.querySelector("[data-spec]")?.textContent ?? "{}");
  /** The inputs whose result is shown, and the answer it came with (none for the built one). @type {{inputs: Inputs, answer: any, isPrecomputed?: boolean}} */
  shown = { inputs: this.spec.inputs, answer: undefined };
  /** @type {Inputs} */ #wanted = this.spec.inputs;
  #controls = new Controls(/** @type {HTMLFormElement} */ (this.#part("controls")), this.spec.schema.properties);
  #announce = announcer(this);
  #message = new Message(this.#part("message"), this.id);
  /** What became of a pasted text, until the next change. */ #note = this.#makeNote();
  #grid = new Grid(this.spec);
  #late = 0;

  connectedCallback() {
    watchEdits(this.#controls, {
      touched: () => this.#touched(),
      changed: (control, isFinal) => this.#changed(control, isFinal),
      noted: (note) => this.#note.say(note ? [note] : []),
    });
    this.addEventListener("click", (event) => this.#clicked(event));
    runtime.addEventListener("state", () => this.#runtimeChanged());
    runtime.addEventListener("progress", () => this.#showStatus());
    onMove(() => this.#readAddress());
    this.#runtimeChanged();
    runtime.rehearsal ??= requestOf(this.spec, this.spec.inputs);
    if (stateOf(this.id)) this.#readAddress();
    if (isLinkedTo(this.id)) this.scrollIntoView();
  }

  /** @param {string} name @returns {HTMLElement} */
  #part(name) {
    return /** @type {HTMLElement} */ (this.querySelector(`[data-${name}]`));
  }

  #makeNote() {
    const element = document.createElement("p");
    element.className = "calc-message";
    element.hidden = true;
    this.#part("controls").after(element);
    return new Message(element, `${this.id}-paste`);
  }

  #touched() {
    if (!savesData()) runtime.start();
    if (runtime.state !== "ready") void this.#grid.load();
  }

  /** `inputs` as the address has them. @param {Inputs} inputs */
  #spelled(inputs) {
    return encodeInputs(inputs, this.spec.inputs, this.spec.schema.properties);
  }

  #readAddress() {
    const state = decodeInputs(stateOf(this.id) ?? "", this.spec.schema.properties);
    this.#set({ ...this.spec.inputs, ...state });
  }

  /** Show `inputs` in the controls and ask for their result. @param {Inputs} inputs */
  #set(inputs) {
    this.#note.say([]);
    this.#controls.write(inputs);
    this.#compute(inputs);
  }

  /** @param {string} control @param {boolean} isFinal */
  #changed(control, isFinal) {
    this.#note.say([]);
    const inputs = this.#controls.read();
    remember(this.id, this.#spelled(inputs), control, isFinal);
    if (isFinal && isSame(inputs, this.#wanted)) return;
    this.#compute(inputs);
  }

  /** @param {Event} event */
  #clicked(event) {
    const button = /** @type {HTMLElement} */ (event.target).closest("button");
    if (button?.dataset["action"] === "reset") {
      remember(this.id, "", "reset", true);
      this.#set(this.spec.inputs);
    } else if (button?.dataset["action"]) openPanel(this, button);
  }

  /** @param {Inputs} inputs */
  #compute(inputs) {
    this.#wanted = inputs;
    this.#controls.absolve();
    if (isSame(inputs, this.shown.inputs)) return this.#settle();
    this.toggleAttribute("data-stale", true);
    if (runtime.state !== "ready") void this.#lookUp(inputs);
    if (runtime.state === "failed") return undefined;
    if (runtime.state === "off" && savesData()) return this.#showStatus();
    this.#request(inputs);
  }

  /** What was computed with the page, unless Python or a newer change is faster. @param {Inputs} inputs */
  async #lookUp(inputs) {
    const answer = await this.#grid.find(inputs);
    if (inputs !== this.#wanted || inputs === this.shown.inputs) return;
    if (answer) await this.#answered(inputs, answer, true);
    else if (runtime.state === "failed" && runtime.failure) this.#failed(runtime.failure);
  }

  /** Show the answer for `inputs`, unless a newer request takes its place. @param {Inputs} inputs */
  #request(inputs) {
    this.request(inputs).then(
      (answer) => answer && inputs === this.#wanted && this.#answered(inputs, answer, false),
      (error) => inputs === this.#wanted && (runtime.state === "failed" ? this.#lookUp(inputs) : this.#failed(error, inputs)),
    );
    this.#runtimeChanged();
  }

  /** The answer for `inputs`; undefined when a newer request took its place. @param {Inputs} inputs */
  request(inputs) {
    return runtime.request(this.id, requestOf(this.spec, inputs));
  }

  /** @param {Inputs} inputs @param {any} answer @param {boolean} isPrecomputed */
  async #answered(inputs, answer, isPrecomputed) {
    if (!answer.ok) {
      this.#controls.accuse(answer.field, this.#message.element.id);
      this.#message.say([answer.message, document.createElement("br"), say("stale")]);
      return isPrecomputed ? undefined : this.#state(STATES.live);
    }
    const isNews = inputs !== this.shown.inputs;
    await showResult(this.#part("result"), answer);
    this.shown = { inputs, answer, isPrecomputed };
    refreshPanel(this);
    if (inputs !== this.#wanted) return;
    this.#settle();
    if (isNews) this.#announce(isPrecomputed ? `${answer.verdict} (${say("precomputed")})` : answer.verdict);
  }

  /** The result shown is that of the controls. */
  #settle() {
    this.removeAttribute("data-stale");
    this.#message.say([]);
    this.#runtimeChanged();
  }

  /** @param {import("./runtime.js").RuntimeError} error @param {Inputs} [inputs] what to compute when it is tried again */
  #failed(error, inputs) {
    this.#wanted = this.shown.inputs;
    this.#controls.write(this.shown.inputs);
    correct(this.id, this.#spelled(this.shown.inputs));
    this.removeAttribute("data-stale");
    this.#runtimeChanged();
    this.#explain(error, inputs);
  }

  /** @param {import("./runtime.js").RuntimeError} error @param {Inputs} [inputs] */
  #explain(error, inputs) {
    const isAboutRuntime = runtime.state === "failed";
    const open = isAboutRuntime ? this.#grid.open(this.shown.inputs) : [];
    const retry = () => (inputs && runtime.state !== "failed" ? this.#retry(inputs) : runtime.restart());
    this.#message.say(failureMessage(error, retry, open), isAboutRuntime);
  }

  /** @param {Inputs} inputs */
  #retry(inputs) {
    remember(this.id, this.#spelled(inputs), "retry", true);
    this.#set(inputs);
  }

  #runtimeChanged() {
    const isIdle = this.#wanted === this.shown.inputs || isSame(this.#wanted, this.shown.inputs);
    this.#state(stateNow(isIdle));
    if (runtime.state === "starting" && this.querySelector("[data-plot]")) void preparePlots();
    if (runtime.state === "failed" && isIdle && runtime.failure) this.#explain(runtime.failure);
    else if (this.#message.isAboutRuntime) this.#message.say([]);
  }

  /** Most answers come within a frame: a word that is gone before it is read would only cost one. @param {string} state */
  #state(state) {
    clearTimeout(this.#late);
    const show = () => {
      if (this.dataset["state"] !== state) this.dataset["state"] = state;
      this.#showStatus();
    };
    if (state !== STATES.computing || this.dataset["state"] !== STATES.live) return show();
    this.#late = setTimeout(show, LIMITS.patience);
  }

  #showStatus() {
    const isPrecomputed = Boolean(this.shown.isPrecomputed) && runtime.state !== "ready" && !this.hasAttribute("data-stale");
    showStatus(this.#part("status"), { state: this.dataset["state"] ?? "", owner: this.id, isPrecomputed }, () => {
      runtime.start();
      if (!isSame(this.#wanted, this.shown.inputs)) this.#request(this.#wanted);
    });
  }
}
