/**
 * Answers that were computed with the page, for states near the one it was built with. They stand
 * in while Python starts and where it cannot run, and are fetched when a control is touched then.
 */

import { isSame } from "./codec.js";
import { base } from "./environment.js";
import { sha256 } from "./files.js";

/** @typedef {import("./codec.js").Inputs} Inputs */
/** What a state changes of the place's inputs, and its answer as indices into `pieces`. @typedef {{pieces: string[], states: [Inputs, number[]][]}} File */

const HASH = /-([0-9a-f]{12})\.json$/;

/** @param {string} path @param {RequestCache} cache @returns {Promise<File>} */
async function fetchFile(path, cache) {
  const response = await fetch(base + path, { cache });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  // Browsers hash in secure pages only; elsewhere there is no Python either, and this must do.
  const isRight = !crypto.subtle || (await sha256(bytes)).startsWith(HASH.exec(path)?.[1] ?? "?");
  if (!isRight) throw new Error(`${path} is not what it was built as`);
  return JSON.parse(new TextDecoder().decode(bytes));
}

/** The precomputed answers of one calculator at its place; it may have none. */
export class Grid {
  /** @type {File | undefined} */
  #file;
  /** @type {Promise<void> | undefined} */
  #loading;
  /** @type {RequestCache} */
  #cache = "default";

  /** @param {import("./wiki-calculator.js").Spec} spec */
  constructor(spec) {
    this.spec = spec;
  }

  /** Fetch the answers, once; where that fails, anew at the next touch. */
  async load() {
    const { grid } = this.spec;
    if (!grid || this.#file) return;
    this.#loading ??= fetchFile(grid.file, this.#cache).then(
      (file) => void (this.#file = file),
      () => {
        this.#loading = undefined;
        this.#cache = "reload"; // What is kept under this name may be what is wrong.
      },
    );
    await this.#loading;
  }

  /** The answer to `inputs`; undefined where none was computed. @param {Inputs} inputs @returns {Promise<any>} */
  async find(inputs) {
    await this.load();
    const found = this.#file?.states.find(([changes]) => isSame({ ...this.spec.inputs, ...changes }, inputs));
    return found && JSON.parse(found[1].map((piece) => this.#file?.pieces[piece]).join(""));
  }

  /** The labels of the inputs that can be changed, each alone, where `shown` is the state. @param {Inputs} shown @returns {string[]} */
  open(shown) {
    const { inputs, grid, schema } = this.spec;
    const isOpen = (/** @type {string} */ name) => this.#file
      ? this.#file.states.some(([changes]) => {
        const state = { ...inputs, ...changes };
        return !isSame(state[name], shown[name]) && isSame({ ...state, [name]: shown[name] }, shown);
      })
      : isSame(inputs, shown);
    return (grid?.inputs ?? []).filter(isOpen).map((name) => schema.properties[name].title);
  }
}
