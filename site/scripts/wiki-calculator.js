/**
 * `<wiki-calculator>`: complete HTML that comes alive. The inputs the controls show and the result
 * beside them always belong together, or the result is marked stale and a sentence says why.
 */

import { correct, isLinkedTo, onMove, remember, stateOf } from "./address.js";
import { announcer } from "./announce.js";
import { decodeInputs, encodeInputs, isSame } from "./codec.js";
import { STATES } from "./constants.js";
import { Controls } from "./controls.js";
import { savesData } from "./environment.js";
import { openPanel } from "./panels.js";
import { preparePlots, showResult } from "./result.js";
import { runtime } from "./runtime.js";
import { changeShape, moveUp, pasteShape, setsRowLength, settleShapes } from "./shapes.js";
import { leadBox, setSlider } from "./slider.js";
import { failureMessage, showStatus } from "./status.js";
import { say } from "./words.js";

/** @typedef {import("./codec.js").Inputs} Inputs */
/** @typedef {{id: string, name: string, schema: {properties: Record<string, any>}, inputs: Inputs, language: string, show: string[] | null, hide: string[], plot: string | null}} Spec */

export class WikiCalculator extends HTMLElement {
  /** @type {Spec} */ spec = JSON.parse(this.querySelector("[data-spec]")?.textContent ?? "{}");
  /** The inputs whose result is shown, and the answer it came with (none for the built one). */
  shown = { inputs: this.spec.inputs, answer: /** @type {any} */ (undefined) };
  /** @type {Inputs} */ #wanted = this.spec.inputs;
  #controls = new Controls(/** @type {HTMLFormElement} */ (this.#part("controls")), this.spec.schema.properties);
  #announce = announcer(this);
  #isAboutRuntime = false;

  connectedCallback() {
    const form = this.#controls.form;
    form.addEventListener("input", (event) => this.#edited(event, false));
    form.addEventListener("change", (event) => this.#edited(event, true));
    form.addEventListener("focusin", () => savesData() || runtime.start());
    form.addEventListener("paste", (event) => {
      const name = pasteShape(this.#controls, event);
      if (name) this.#changed(name, true);
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    this.addEventListener("click", (event) => this.#clicked(event));
    runtime.addEventListener("state", () => this.#runtimeChanged());
    runtime.addEventListener("progress", () => this.#showStatus());
    onMove(() => this.#readAddress());
    const message = this.#part("message");
    message.id ||= `${this.id}-message`;
    message.setAttribute("role", "status");
    this.#runtimeChanged();
    if (stateOf(this.id)) this.#readAddress();
    if (isLinkedTo(this.id)) this.scrollIntoView();
  }

  /** @param {string} name @returns {HTMLElement} */
  #part(name) {
    return /** @type {HTMLElement} */ (this.querySelector(`[data-${name}]`));
  }

  #readAddress() {
    const state = decodeInputs(stateOf(this.id) ?? "", this.spec.schema.properties);
    this.#set({ ...this.spec.inputs, ...state });
  }

  /** Show `inputs` in the controls and ask for their result. @param {Inputs} inputs */
  #set(inputs) {
    this.#controls.write(inputs);
    this.#compute(inputs);
  }

  /** @param {Event} event @param {boolean} isFinal */
  #edited(event, isFinal) {
    const control = /** @type {HTMLInputElement} */ (event.target);
    if (control.dataset["part"] === "slider") leadBox(control);
    else setSlider(control);
    if (setsRowLength(this.#controls, control.name) && control.type === "number" && !isFinal) return;
    settleShapes(this.#controls, control.name);
    this.#changed(control.name + (control.dataset["index"] ?? ""), isFinal);
  }

  /** @param {string} control @param {boolean} isFinal */
  #changed(control, isFinal) {
    const inputs = this.#controls.read();
    remember(this.id, encodeInputs(inputs, this.spec.inputs, this.spec.schema.properties), control, isFinal);
    if (isFinal && isSame(inputs, this.#wanted)) return;
    this.#compute(inputs);
  }

  /** @param {Event} event */
  #clicked(event) {
    const button = /** @type {HTMLElement} */ (event.target).closest("button");
    const field = button?.closest("[data-field]")?.getAttribute("data-field") ?? "";
    if (button?.dataset["shape"]) {
      if (changeShape(this.#controls, button, field)) this.#changed(`${field} shape`, true);
    } else if (button?.dataset["move"]) {
      moveUp(button);
      this.#changed(field, true);
    } else if (button?.dataset["action"] === "reset") {
      remember(this.id, "", "reset", true);
      this.#set(this.spec.inputs);
    } else if (button?.dataset["action"]) openPanel(this, button);
  }

  /** @param {Inputs} inputs */
  #compute(inputs) {
    this.#wanted = inputs;
    this.#controls.absolve();
    if (isSame(inputs, this.shown.inputs)) return this.#settle();
    if (runtime.state === "failed") return this.#failed(/** @type {any} */ (runtime.failure));
    this.toggleAttribute("data-stale", true);
    if (runtime.state === "off" && savesData()) return this.#showStatus();
    this.#request(inputs);
  }

  /** @param {Inputs} inputs */
  #request(inputs) {
    this.request(inputs).then(
      (answer) => answer && inputs === this.#wanted && this.#answered(inputs, answer),
      (error) => inputs === this.#wanted && this.#failed(error),
    );
    this.#state(runtime.state === "ready" ? STATES.computing : STATES.starting);
  }

  /** The answer for `inputs`; undefined when a newer request took its place. @param {Inputs} inputs */
  request(inputs) {
    const { name, language, show, hide, plot } = this.spec;
    return runtime.request(this.id, { calculator: name, inputs, language, show, hide, plot });
  }

  /** @param {Inputs} inputs @param {any} answer */
  async #answered(inputs, answer) {
    if (!answer.ok) {
      this.#controls.accuse(answer.field, this.#part("message").id);
      this.#say([answer.message, document.createElement("br"), say("stale")]);
      return this.#state(STATES.live);
    }
    await showResult(this.#part("result"), answer);
    this.shown = { inputs, answer };
    if (inputs !== this.#wanted) return;
    this.#settle();
    this.#announce(answer.verdict);
  }

  /** The result shown is that of the controls. */
  #settle() {
    this.removeAttribute("data-stale");
    this.#say([]);
    this.#runtimeChanged();
  }

  /** @param {import("./runtime.js").RuntimeError} error */
  #failed(error) {
    this.#wanted = this.shown.inputs;
    this.#controls.write(this.shown.inputs);
    correct(this.id, encodeInputs(this.shown.inputs, this.spec.inputs, this.spec.schema.properties));
    this.removeAttribute("data-stale");
    this.#runtimeChanged();
    this.#say(failureMessage(error, () => runtime.restart()), runtime.state === "failed");
  }

  #runtimeChanged() {
    const isIdle = this.#wanted === this.shown.inputs || isSame(this.#wanted, this.shown.inputs);
    const busy = runtime.state === "ready" ? STATES.computing : STATES.starting;
    if (runtime.state === "failed") this.#state(STATES.unavailable);
    else if (runtime.state === "off") this.#state(STATES.static);
    else if (runtime.state === "ready" && isIdle) this.#state(STATES.live);
    else this.#state(busy);
    if (runtime.state === "starting") void preparePlots();
    if (runtime.state === "failed" && isIdle && runtime.failure) {
      this.#say(failureMessage(runtime.failure, () => runtime.restart()), true);
    } else if (this.#isAboutRuntime) this.#say([]);
  }

  /** @param {string} state */
  #state(state) {
    if (this.dataset["state"] !== state) this.dataset["state"] = state;
    this.#showStatus();
  }

  #showStatus() {
    showStatus(this.#part("status"), this.dataset["state"] ?? "", this.id, () => {
      runtime.start();
      if (!isSame(this.#wanted, this.shown.inputs)) this.#request(this.#wanted);
    });
  }

  /** @param {(string | Node)[]} parts @param {boolean} [isAboutRuntime] so that a restart takes it away */
  #say(parts, isAboutRuntime = false) {
    this.#isAboutRuntime = isAboutRuntime;
    const message = this.#part("message");
    message.hidden = parts.length === 0;
    message.replaceChildren(...parts);
  }
}
