/** This state as a Python script that runs by itself, and as a notebook. */

import { language, manifestAddress, runtimeBase } from "./environment.js";

/** @typedef {{files: Record<string, string>, template: string, checkout: string}} Bundle */

/** @type {Promise<Bundle> | undefined} */
let loading;

/** The calculators' sources: the same file that the worker unpacks. @returns {Promise<Bundle>} */
function bundle() {
  loading ??= fetchBundle();
  loading.catch(() => {
    loading = undefined;
  });
  return loading;
}

async function fetchBundle() {
  const manifest = await (await fetch(manifestAddress)).json();
  const response = await fetch(runtimeBase + manifest.bundles[language].path);
  if (!response.ok) throw new Error(`${response.url}: ${response.status}`);
  return response.json();
}

/** @param {any} value @returns {string} */
export function pythonLiteral(value) {
  if (value === null || value === undefined) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  const items = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${pythonLiteral(item)}`);
  return `{${items.join(", ")}}`;
}

/** A module's source as a string literal that reads like the source. @param {string} source */
function pythonText(source) {
  const isPlain = !source.includes("'''") && source.endsWith("\n");
  return isPlain ? `r'''${source}'''` : JSON.stringify(source);
}

/**
 * The calculators' modules that `name` needs, each after what it imports.
 * @param {Record<string, string>} files @param {string} name
 */
export function modulesFor(files, name) {
  /** @type {Map<string, string>} */
  const ordered = new Map();
  const visit = (/** @type {string} */ module) => {
    const source = files[`calculators/${module}.py`];
    if (source === undefined || ordered.has(module)) return;
    for (const [, inside, listed = ""] of source.matchAll(/^from calculators(?:\.(\w+))? import (\([^)]*\)|.*)$/gm)) {
      for (const needed of inside ? [inside] : listed.match(/\w+/g) ?? []) visit(needed);
    }
    ordered.set(module, source);
  };
  visit("contract");
  visit(name);
  return ordered;
}

/**
 * @param {{name: string, title: string, inputs: Record<string, any>, address: string}} state
 * @returns {Promise<{script: string, source: string}>}
 */
export async function stateScript({ name, title, inputs, address }) {
  const { files, template, checkout } = await bundle();
  const modules = modulesFor(files, name);
  const literals = [...modules].map(([key, source]) => `${JSON.stringify(key)}: ${pythonText(source)},`);
  const lines = Object.entries(inputs).map(([key, value]) => `    ${JSON.stringify(key)}: ${pythonLiteral(value)},`);
  /** @type {Record<string, string>} */
  const parts = {
    TITLE: title.replaceAll('"', "'"), ADDRESS: address, NAME: JSON.stringify(name),
    INPUTS: `{\n${lines.join("\n")}\n}`, MODULES: literals.join("\n"),
  };
  // What reads the project's records cannot run without them.
  const needsFiles = [...modules.values()].some((source) => source.includes('"experiments"'));
  const script = (needsFiles ? checkout : template).replace(/@([A-Z]+)@/g, (whole, key) => parts[key] ?? whole);
  return { script, source: modules.get(name) ?? "" };
}

/** A notebook with the script in one cell. @param {string} script @param {string} title */
export function notebook(script, title) {
  const lines = (/** @type {string} */ text) => text.split(/(?<=\n)/);
  const cells = [
    { cell_type: "markdown", id: "about", metadata: {}, source: lines(`# ${title}`) },
    { cell_type: "code", id: "state", metadata: {}, execution_count: null, outputs: [], source: lines(script) },
  ];
  const metadata = {
    kernelspec: { display_name: "Python 3", language: "python", name: "python3" },
    language_info: { name: "python" },
  };
  return JSON.stringify({ cells, metadata, nbformat: 4, nbformat_minor: 5 }, null, 1);
}
