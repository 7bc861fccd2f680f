/**
 * Bytecode for the page's Python, made by that Python: `{"folder", "library", "wheel"}` in. The two
 * archives of that folder are replaced by compiled ones.
 */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { loadPyodide } from "pyodide";

import { serveLines } from "./lines.mjs";

const SOURCE = fileURLToPath(new URL("../pipeline/bytecode.py", import.meta.url));

// Sets of constants are written in the order of their hashes: with a fixed seed it is always the same.
const python = await loadPyodide({ env: { HOME: "/home/pyodide", PYTHONHASHSEED: "0" } });
python.FS.writeFile("/home/pyodide/bytecode.py", readFileSync(SOURCE, "utf-8"));
const bytecode = python.pyimport("bytecode");

serveLines((/** @type {{folder: string, library: string, wheel: string}} */ { folder, library, wheel }) => {
  python.mountNodeFS("/archives", folder);
  bytecode.compile_standard_library(`/archives/${library}`);
  bytecode.compile_numpy(`/archives/${wheel}`, "/tmp/numpy");
  return [library, wheel];
});
