/** Inputs that must have the same shape: what is added to one is added to the others. */

import { follow, pasteBlock, reshape, setRowLength } from "./cells.js";
import { plainSchema } from "./codec.js";

/** @typedef {import("./controls.js").Controls} Controls */

/** @param {Controls} controls @param {string} name */
function schemaOf(controls, name) {
  return plainSchema(controls.properties[name] ?? {});
}

/** @param {Controls} controls */
function fieldsOf(controls) {
  return /** @type {Record<string, Element>} */ (Object.fromEntries(controls.fields()));
}

/** Whether `name` is a number that says how long the rows of another input are. @param {Controls} controls @param {string} name */
export function setsRowLength(controls, name) {
  return Object.keys(controls.properties).some((other) => schemaOf(controls, other)["x-row-length"] === name);
}

/** After `name` has changed: the inputs that follow its shape take it. @param {Controls} controls @param {string} name */
export function settleShapes(controls, name) {
  const fields = fieldsOf(controls);
  const inputs = controls.read();
  const model = schemaOf(controls, name)["x-like"];
  if (model && inputs[name]?.length === 0) follow(fields[name], fields[model]);
  for (const other of Object.keys(controls.properties)) {
    const schema = schemaOf(controls, other);
    if (schema["x-like"] === name && inputs[other]) follow(fields[other], fields[name]);
    if (schema["x-row-length"] === name && Number.isInteger(inputs[name]) && inputs[name] >= 1 && inputs[name] <= 64) {
      setRowLength(fields[other], inputs[name]);
    }
  }
}

/** Add or remove what `button` stands for. Returns whether anything changed. @param {Controls} controls @param {HTMLElement} button @param {string} name */
export function changeShape(controls, button, name) {
  const schema = schemaOf(controls, name);
  if (!reshape(button, schema)) return false;
  const model = schema["x-like"] ?? name;
  const fields = fieldsOf(controls);
  if (model !== name) follow(fields[model], fields[name]);
  settleShapes(controls, model);
  return true;
}

/** Fill what was pasted into the cells. Returns the input it changed, if it was more than one cell. @param {Controls} controls @param {ClipboardEvent} event */
export function pasteShape(controls, event) {
  const target = /** @type {HTMLInputElement} */ (event.target);
  const text = event.clipboardData?.getData("text/plain") ?? "";
  if (!pasteBlock(target, text, schemaOf(controls, target.name))) return undefined;
  event.preventDefault();
  settleShapes(controls, target.name);
  controls.write(controls.read());
  return target.name;
}

/** Move an item of an order one place up, the focus with it. @param {HTMLElement} button */
export function moveUp(button) {
  const item = button.closest("li");
  if (item) item.previousElementSibling?.before(item);
  button.focus();
}
