/** What a reader does to a calculator's controls: shapes that follow a change settle, and it is told once. */

import { changeShape, moveUp, pasteNote, pasteShape, setsRowLength, settleShapes } from "./shapes.js";
import { leadBox, setSlider } from "./slider.js";

/** @typedef {import("./controls.js").Controls} Controls */
/** @typedef {{touched: () => void, changed: (control: string, isFinal: boolean) => void, noted: (note: string) => void}} Told */

/** @param {Controls} controls @param {Told} told */
export function watchEdits(controls, told) {
  const { form } = controls;
  form.addEventListener("input", (event) => edited(controls, event, false, told));
  form.addEventListener("change", (event) => edited(controls, event, true, told));
  form.addEventListener("click", (event) => pressed(controls, event, told));
  form.addEventListener("focusin", () => told.touched());
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("paste", (event) => pasted(controls, event, told));
  form.addEventListener("drop", (event) => pasted(controls, event, told));
  form.addEventListener("wheel", (event) => keepFromWheel(event), { passive: true });
}

/** @param {Controls} controls @param {Event} event @param {boolean} isFinal @param {Told} told */
function edited(controls, event, isFinal, told) {
  const control = /** @type {HTMLInputElement} */ (event.target);
  if (control.dataset["part"] === "slider") leadBox(control);
  else setSlider(control);
  if (setsRowLength(controls, control.name) && control.dataset["part"] === "box" && !isFinal) return;
  settleShapes(controls, control.name);
  told.changed(control.name + (control.dataset["index"] ?? ""), isFinal);
}

/** @param {Controls} controls @param {ClipboardEvent | DragEvent} event @param {Told} told */
function pasted(controls, event, told) {
  const found = pasteShape(controls, event);
  if (!found) return;
  const { name } = /** @type {HTMLInputElement} */ (event.target);
  if (found.isFilled) told.changed(name, true);
  told.noted(pasteNote(found, controls.properties[name]?.["title"] ?? name));
}

/** A page scrolled over the box that has the focus must not change its number. @param {WheelEvent} event */
function keepFromWheel({ target }) {
  if (!(target instanceof HTMLInputElement) || target.type !== "number" || target.readOnly) return;
  target.readOnly = true;
  setTimeout(() => {
    target.readOnly = false;
  });
}

/** A button that adds, removes or moves entries. @param {Controls} controls @param {Event} event @param {Told} told */
function pressed(controls, event, told) {
  const button = /** @type {HTMLElement} */ (event.target).closest("button");
  const field = button?.closest("[data-field]")?.getAttribute("data-field") ?? "";
  if (button?.dataset["shape"]) {
    if (changeShape(controls, button, field)) told.changed(`${field} shape`, true);
  } else if (button?.dataset["move"]) {
    moveUp(button);
    told.changed(field, true);
  }
}
