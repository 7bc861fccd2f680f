/** The drawer below a calculator: its script, its data, a link to its state. */

import { encodeInputs, isSame } from "./codec.js";
import { LIMITS } from "./constants.js";
import { csvFile, download, resultJson, tableCsv, tablesInPage } from "./data-export.js";
import { savesData } from "./environment.js";
import { requestOf, runtime } from "./runtime.js";
import { notebook, stateScript } from "./script-export.js";
import { textButton } from "./status.js";
import { say } from "./words.js";

/** @typedef {import("./wiki-calculator.js").WikiCalculator} WikiCalculator */

/** @param {WikiCalculator} calculator */
function addressOf({ id, spec, shown }) {
  const state = encodeInputs(shown.inputs, spec.inputs, spec.schema.properties);
  const address = new URL(location.href);
  address.hash = state ? `${encodeURIComponent(id)}?${state}` : encodeURIComponent(id);
  return address.href;
}

/** @param {WikiCalculator} calculator */
function titleOf(calculator) {
  return calculator.querySelector(".calc-title")?.textContent?.trim() || calculator.spec.name;
}

/** @param {string} text @param {string} label */
function listing(text, label) {
  const pre = document.createElement("pre");
  pre.tabIndex = 0;
  pre.setAttribute("role", "region");
  pre.setAttribute("aria-label", label);
  pre.textContent = text;
  return pre;
}

/** @param {string} text */
function heading(text) {
  const element = document.createElement("p");
  element.className = "calc-drawer-title";
  element.textContent = text;
  return element;
}

/** A button that copies `text` and says whether it could. @param {string} text */
function copyButton(text) {
  const button = textButton(say("copy"), () => {
    // A page that is not secure has no clipboard.
    const written = navigator.clipboard ? navigator.clipboard.writeText(text) : Promise.reject();
    written.then(
      () => (button.textContent = say("copied")),
      () => (button.textContent = say("not_copied")),
    );
  });
  button.setAttribute("aria-live", "polite");
  return button;
}

/** @param {Node[]} items */
function bar(...items) {
  const element = document.createElement("div");
  element.className = "dialog-bar";
  element.append(...items);
  return element;
}

/** @param {WikiCalculator} calculator @returns {Promise<Node[]>} */
async function pythonPanel(calculator) {
  const title = titleOf(calculator);
  const { name } = calculator.spec;
  const state = { name, title, inputs: calculator.shown.inputs, address: addressOf(calculator) };
  const { script, source } = await stateScript(state);
  const tools = bar(
    heading(say("script_title")),
    copyButton(script),
    textButton(say("download_py"), () => download(`${name}.py`, script, "text/x-python")),
    textButton(say("download_ipynb"), () => download(`${name}.ipynb`, notebook(script, title), "application/x-ipynb+json")),
  );
  return [
    heading(say("source_title", { name })), listing(source, say("source_title", { name })),
    tools, listing(script, say("script_title")),
  ];
}

/** @param {WikiCalculator} calculator @returns {Promise<Node[]>} */
async function dataPanel(calculator) {
  const { name } = calculator.spec;
  const answer = await freshAnswer(calculator);
  const region = /** @type {Element} */ (calculator.querySelector("[data-result]"));
  const tables = answer?.tables ?? tablesInPage(region);
  /** @type {Node[]} */
  const parts = [];
  if (answer) {
    const json = resultJson(name, answer);
    const save = textButton(say("download_json"), () => download(`${name}.json`, json, "application/json"));
    parts.push(bar(heading(say("values_title")), copyButton(json), save), listing(json, say("values_title")));
  }
  for (const table of tables) {
    const csv = tableCsv(table);
    const save = textButton(say("download_csv"), () => download(`${name}-${table.key}.csv`, csvFile(csv), "text/csv"));
    parts.push(bar(heading(table.title), copyButton(csv), save), listing(csv, table.title));
  }
  return parts;
}

/** The answer beside the controls; the built result came without one. @param {WikiCalculator} calculator */
async function freshAnswer(calculator) {
  const { answer, inputs } = calculator.shown;
  if (answer || (savesData() && runtime.state === "off")) return answer;
  try {
    // As an owner of its own: it must not take the place of a change that waits for its result.
    const fresh = await runtime.request(`${calculator.id} data`, requestOf(calculator.spec, inputs));
    return fresh?.ok && isSame(inputs, calculator.shown.inputs) ? fresh : calculator.shown.answer;
  } catch {
    return undefined;
  }
}

/** @param {WikiCalculator} calculator @returns {Promise<Node[]>} */
async function linkPanel(calculator) {
  const address = addressOf(calculator);
  const box = document.createElement("input");
  box.className = "line-input";
  box.readOnly = true;
  box.value = address;
  box.setAttribute("aria-label", say("link_title"));
  box.addEventListener("focus", () => box.select());
  return [bar(heading(say("link_title")), copyButton(address)), box];
}

const PANELS = Object.freeze({ python: pythonPanel, data: dataPanel, link: linkPanel });

/** Open or close the panel that `button` stands for. @param {WikiCalculator} calculator @param {HTMLElement} button */
export function openPanel(calculator, button) {
  const action = button.dataset["action"] ?? "";
  const old = calculator.querySelector(".calc-drawer");
  old?.remove();
  for (const other of calculator.querySelectorAll("[data-action][aria-expanded]")) other.setAttribute("aria-expanded", "false");
  if (!(action in PANELS) || old?.getAttribute("data-panel") === action) return;
  const drawer = document.createElement("div");
  drawer.className = "calc-drawer";
  drawer.dataset["panel"] = action;
  drawer.textContent = say("starting");
  button.setAttribute("aria-expanded", "true");
  calculator.append(drawer);
  fill(calculator, drawer);
}

/** Panels that wait for a pause in a drag. @type {WeakMap<HTMLElement, number>} */
const pauses = new WeakMap();

/** After a new result, and a pause: an open panel is about that one. @param {WikiCalculator} calculator */
export function refreshPanel(calculator) {
  const drawer = /** @type {HTMLElement | null} */ (calculator.querySelector(".calc-drawer"));
  if (!drawer) return;
  clearTimeout(pauses.get(drawer));
  pauses.set(drawer, setTimeout(() => fill(calculator, drawer), LIMITS.historyPause));
}

/** @param {WikiCalculator} calculator @param {HTMLElement} drawer */
function fill(calculator, drawer) {
  const { shown } = calculator;
  const action = /** @type {keyof typeof PANELS} */ (drawer.dataset["panel"]);
  PANELS[action](calculator).then(
    (parts) => shown === calculator.shown && drawer.replaceChildren(...parts),
    () => (drawer.textContent = say("failed_file", { detail: action })),
  );
}
