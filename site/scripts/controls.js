/**
 * The controls of a calculator: real form elements that Python wrote, read as inputs and set from
 * inputs. Their names are the inputs' names; entries of lists carry `data-index`.
 */

import { isNullable, parseEntry, plainSchema } from "./codec.js";
import { fitEntries } from "./cells.js";
import { linkSlider, setSlider } from "./slider.js";

/** @typedef {import("./codec.js").Inputs} Inputs */
/** @typedef {import("./codec.js").Schema} Schema */
/** @typedef {HTMLInputElement | HTMLSelectElement} Control */

/** @param {Element} field @param {string} selector @returns {Control[]} */
function all(field, selector) {
  return /** @type {Control[]} */ ([...field.querySelectorAll(selector)]);
}

const LISTS = ["order", "subset", "vector", "matrix", "table"];

/** The element whose value counts: not the slider beside it, not the switch. */
const VALUE = "[name]:not([data-part=slider]):not([data-part=null])";

/** @param {Control} control @param {Schema} schema @returns {any} */
function readOne(control, schema) {
  if (control instanceof HTMLInputElement && control.type === "checkbox") return control.checked;
  if (control instanceof HTMLInputElement && control.type === "number" && control.validity.badInput) return "";
  if (control.dataset["part"] === "list") return control.value.split(/[,，、]/).map(parseEntry);
  const kind = plainSchema(schema)["type"];
  if (kind === "string") return control.value === "" && isNullable(schema) ? null : control.value;
  return parseEntry(control.value);
}

/** @param {Element} field @param {Schema} schema */
function readRows(field, schema) {
  /** @type {any[]} */
  const rows = [];
  const items = plainSchema(plainSchema(schema)["items"]);
  for (const control of all(field, VALUE)) {
    const [i = "0", key = ""] = (control.dataset["index"] ?? "").split(",");
    const row = (rows[Number(i)] ??= items["type"] === "array" ? [] : {});
    const own = items["type"] === "array" ? items["items"] : items["properties"][key];
    row[items["type"] === "array" ? Number(key) : key] = readOne(control, own);
  }
  return rows;
}

/** @param {Element} field @param {Schema} schema @returns {any} */
function readField(field, schema) {
  const kind = field.getAttribute("data-kind");
  if (isNull(field)) return null;
  if (kind === "order") return [...field.querySelectorAll("li")].map((item) => item.dataset["value"]);
  if (kind === "subset") {
    const boxes = /** @type {HTMLInputElement[]} */ (all(field, "input:checked"));
    return boxes.map((box) => box.value);
  }
  if (kind === "matrix" || kind === "table") return readRows(field, schema);
  const items = plainSchema(schema)["items"];
  const controls = all(field, VALUE);
  if (kind === "vector") return controls.map((control) => readOne(control, items));
  return controls[0] ? readOne(controls[0], schema) : null;
}

/** @param {Element} field */
function isNull(field) {
  return field.querySelector("[data-part=null]:checked") !== null;
}

/** A box for numbers shows no word: as long as one stands in it, it is a box for text. @param {HTMLInputElement} box @param {any} value */
function admit(box, value) {
  const isNumber = typeof value === "number" || (value ?? null) === null;
  if (box.type === "number" && !isNumber) {
    box.type = "text";
    box.dataset["numeric"] = "";
  } else if ("numeric" in box.dataset && isNumber) {
    box.type = "number";
    delete box.dataset["numeric"];
  }
}

/** @param {Control} control @param {any} value */
function writeOne(control, value) {
  if (control instanceof HTMLInputElement && control.type === "checkbox") {
    control.checked = Boolean(value);
    return;
  }
  const text = Array.isArray(value) ? value.map((item) => item ?? "").join(", ") : String(value ?? "");
  if (control instanceof HTMLInputElement) admit(control, value);
  if (control.value !== text) control.value = text;
  setSlider(control);
}

/** @param {Element} field @param {any} value */
function writeField(field, value) {
  const kind = field.getAttribute("data-kind");
  const box = /** @type {HTMLInputElement | null} */ (field.querySelector("[data-part=null]"));
  if (box) box.checked = value === null;
  // A link may have anything for a list; the boxes stay, and Python says what is wrong with it.
  if (LISTS.includes(kind ?? "") && !Array.isArray(value)) return;
  if (kind === "order") {
    const list = field.querySelector("ol");
    for (const item of value) list?.append(field.querySelector(`li[data-value="${CSS.escape(item)}"]`) ?? "");
  } else if (kind === "subset") {
    for (const control of all(field, "input")) {
      /** @type {HTMLInputElement} */ (control).checked = value.includes(control.value);
    }
  } else if (["vector", "matrix", "table"].includes(kind ?? "")) {
    fitEntries(field, value);
    for (const control of all(field, VALUE)) {
      const path = (control.dataset["index"] ?? "").split(",");
      writeOne(control, path.reduce((found, key) => found?.[key], value));
    }
  } else {
    for (const control of all(field, VALUE)) writeOne(control, value);
  }
}

/** All controls of one calculator. */
export class Controls {
  /** @param {HTMLFormElement} form @param {Record<string, Schema>} properties */
  constructor(form, properties) {
    this.form = form;
    this.properties = properties;
    for (const slider of form.querySelectorAll("[data-part=slider]")) linkSlider(/** @type {HTMLInputElement} */ (slider));
  }

  /** @returns {[string, Element][]} */
  fields() {
    return [...this.form.querySelectorAll("[data-field]")].map((field) => [
      field.getAttribute("data-field") ?? "",
      field,
    ]);
  }

  /** @returns {Inputs} */
  read() {
    return Object.fromEntries(
      this.fields().map(([name, field]) => [name, readField(field, this.properties[name] ?? {})]),
    );
  }

  /** @param {Inputs} inputs */
  write(inputs) {
    for (const [name, field] of this.fields()) if (name in inputs) writeField(field, inputs[name]);
  }

  /**
   * Mark the control that `path` ("counts[1]", "tensors[0].kind") names as the wrong one.
   * @param {string} path @param {string} messageId
   */
  accuse(path, messageId) {
    this.absolve();
    const [name = "", ...index] = path.split(/[[\].]+/).filter(Boolean);
    const controls = all(this.form, `[name="${CSS.escape(name)}"]:not([data-part=slider])`);
    const exact = controls.filter((control) => control.dataset["index"] === index.join(","));
    const near = controls.filter((control) => `${control.dataset["index"]},`.startsWith(`${index.slice(0, 2).join(",")},`));
    for (const control of exact.length ? exact : near.length ? near : controls) {
      control.setAttribute("aria-invalid", "true");
      control.setAttribute("aria-describedby", messageId);
    }
  }

  absolve() {
    for (const control of this.form.querySelectorAll("[aria-invalid]")) {
      control.removeAttribute("aria-invalid");
      control.removeAttribute("aria-describedby");
    }
  }
}
