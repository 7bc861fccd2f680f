/** Inputs that must have the same shape: what is added to one is added to the others. */

import { follow, pasteBlock, reshape, setRowLength } from "./cells.js";
import { plainSchema } from "./codec.js";
import { say } from "./words.js";

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

/**
 * Fill what was pasted (or dropped) into the boxes. Returns what became of it, if the browser does
 * not do as well.
 * @param {Controls} controls @param {ClipboardEvent | DragEvent} event
 */
export function pasteShape(controls, event) {
  const target = /** @type {HTMLInputElement} */ (event.target);
  const { name } = target;
  const data = event instanceof DragEvent ? event.dataTransfer : event.clipboardData;
  const schema = controls.properties[name];
  const pasted = schema && pasteBlock(target, data?.getData("text/plain") ?? "", schema);
  if (!pasted) return undefined;
  event.preventDefault();
  if (pasted.isFilled) {
    const model = schemaOf(controls, name)["x-like"];
    const fields = fieldsOf(controls);
    if (model) follow(fields[model], fields[name]);
    settleShapes(controls, model ?? name);
    controls.write(controls.read());
  }
  return pasted;
}

/** What the reader is told of a pasted text, if anything. @param {import("./cells.js").Pasted} pasted @param {string} label */
export function pasteNote({ wrong, readings = [], total = 0, left = 0, rows = 0, columns = 0 }, label) {
  if (wrong !== undefined) {
    const came = [...wrong].length > 40 ? `${[...wrong].slice(0, 39).join("")}…` : wrong;
    return readings.length > 1 ? say("paste_ambiguous", { came, one: readings[0] ?? "", other: readings[1] ?? "" }) : say("paste_refused", { came });
  }
  if (left === 0) return "";
  return say(columns > 1 ? "paste_left_of_rows" : "paste_left", { left, total, label, rows, columns });
}

/** Move an item of an order one place up, the focus with it. @param {HTMLElement} button */
export function moveUp(button) {
  const item = button.closest("li");
  if (item) item.previousElementSibling?.before(item);
  button.focus();
}
