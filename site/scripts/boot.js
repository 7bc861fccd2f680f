/** Start Python in this worker: Pyodide, numpy and the calculators, all from the site's own files. */

import { entries } from "./archive.js";
import { REASONS } from "./constants.js";
import { Downloads, StartError } from "./files.js";
import { dropSnapshots, readSnapshot, writeSnapshot } from "./snapshot.js";

/** @typedef {import("./files.js").Manifest} Manifest */
/** @typedef {import("pyodide").PyodideAPI & {makeMemorySnapshot(): any}} Python */
/** @typedef {{base: string, manifest: Manifest, language: string, withSnapshot: boolean}} Boot */

const SITE_PACKAGES = "/lib/python3.13/site-packages/";
const HOME = "/home/pyodide/";

/** What numpy and the calculators import from the standard library: part of the snapshot. */
const STANDARD = `ast base64 bisect collections.abc contextlib contextvars copy ctypes dataclasses
datetime enum fnmatch fractions functools glob hashlib hmac html importlib.util inspect io itertools json
math numbers operator os pathlib pickle platform random re secrets shutil string struct sysconfig
tempfile textwrap threading tokenize tomllib traceback types typing unicodedata urllib.parse warnings
weakref zipfile`;

const WASM = "pyodide.asm.wasm";

/** @typedef {Map<string, Promise<Uint8Array<ArrayBuffer>>>} Files */

/** @param {string} name */
function isNeeded(name) {
  return /\.(pyc?|so)$/.test(name) && !name.includes("/tests/");
}

/**
 * Run `action` while this worker's fetch answers `route` from downloads that are on their way:
 * Pyodide names the files it wants and cannot be handed them. What it would log or leave to itself,
 * to wait for ever (WebAssembly that cannot be instantiated, above all), fails here.
 * @template T
 * @param {(url: string) => Promise<Response> | undefined} route
 * @param {() => Promise<T>} action
 */
async function withRoutes(route, action) {
  const { fetch } = self;
  const { instantiateStreaming } = WebAssembly;
  const ended = new AbortController();
  /** @type {Promise<never>} */
  const broken = new Promise((_, reject) => {
    const fail = (/** @type {PromiseRejectionEvent} */ event) => {
      event.preventDefault();
      reject(event.reason);
    };
    self.addEventListener("unhandledrejection", fail, { signal: ended.signal });
    WebAssembly.instantiateStreaming = (source, imports) => {
      const made = instantiateStreaming(source, imports);
      made.catch(reject);
      return made;
    };
  });
  self.fetch = (input, options) =>
    route(String(input instanceof Request ? input.url : input)) ?? fetch(input, options);
  try {
    const made = await Promise.race([action(), broken]);
    ended.abort();
    return made;
  } finally {
    self.fetch = fetch;
    WebAssembly.instantiateStreaming = instantiateStreaming;
  }
}

/**
 * @param {Manifest} manifest
 * @param {Downloads} downloads
 */
function startDownloads({ core }, downloads) {
  /** @type {Files} */
  const files = new Map();
  for (const [name, file] of Object.entries(core)) {
    // A script is imported from its own address, so its plain form is what is fetched.
    const fetched = name.endsWith("js") ? { ...file, variants: {} } : file;
    if (name !== WASM) files.set(name, downloads.start(fetched));
  }
  const wasmFile = core[WASM];
  if (!wasmFile) throw new StartError(REASONS.file, WASM);
  const wasm = downloads.stream(wasmFile);
  files.set(WASM, wasm.bytes);
  return { files, wasm: wasm.response };
}

/**
 * @param {Boot} boot
 * @param {Files} files
 * @param {Promise<Response>} wasm
 * @param {Uint8Array<ArrayBuffer> | undefined} snapshot
 * @returns {Promise<Python>}
 */
async function loadCore({ base, manifest }, files, wasm, snapshot) {
  const indexURL = `${base}${manifest.key}/`;
  /** @param {string} url */
  const route = (url) => {
    const name = url.startsWith(indexURL) ? url.slice(indexURL.length) : "";
    if (name === WASM) return wasm;
    return files.get(name)?.then((bytes) => new Response(bytes));
  };
  await Promise.all([bytesOf(files, "pyodide.mjs"), bytesOf(files, "pyodide.asm.js")]);
  const { loadPyodide } = await import(`${indexURL}pyodide.mjs`);
  const lock = { info: { abi_version: "2025_0", arch: "wasm32", platform: "emscripten_4_0_9",
    python: "3.13.2", version: "0.29.0" }, packages: {} };
  const start = snapshot ? { _loadSnapshot: snapshot } : { _makeSnapshot: true };
  try {
    return await withRoutes(route, () =>
      loadPyodide({ indexURL, lockFileContents: JSON.stringify(lock), ...start }),
    );
  } catch (error) {
    // A file that is missing or wrong says so itself; only if all are right did the start fail.
    await Promise.all([...files.values(), drained(wasm)]);
    if (snapshot) await dropSnapshots();
    throw new StartError(snapshot ? REASONS.snapshot : reasonOf(error), String(error));
  }
}

/** Read what a start that failed has left unread, for its copy comes no faster. @param {Promise<Response>} response */
async function drained(response) {
  const { bodyUsed, body } = await response;
  if (!bodyUsed && body && !body.locked) await body.pipeTo(new WritableStream());
}

/** @param {Files} files @param {string} name */
function bytesOf(files, name) {
  const bytes = files.get(name);
  if (!bytes) throw new StartError(REASONS.file, name);
  return bytes;
}

/** @param {unknown} error */
export function reasonOf(error) {
  if (error instanceof StartError) return error.reason;
  const text = String(error);
  return /out of memory|allocation failed|MemoryError|(could not|failed to|cannot) allocate/i.test(text)
    ? REASONS.memory
    : REASONS.worker;
}

/** @param {Python} python @param {Uint8Array<ArrayBuffer>} wheel */
async function installWheel(python, wheel) {
  const folders = new Set();
  for (const [name, body] of await entries(wheel, isNeeded)) {
    const path = SITE_PACKAGES + name;
    const folder = path.slice(0, path.lastIndexOf("/"));
    if (!folders.has(folder)) python.FS.mkdirTree(folder);
    folders.add(folder);
    python.FS.writeFile(path, body, { canOwn: true });
  }
}

/** @param {Python} python @param {Uint8Array<ArrayBuffer>} bundle */
function installCalculators(python, bundle) {
  const { files } = JSON.parse(new TextDecoder().decode(bundle));
  python.FS.mkdirTree(`${HOME}calculators/strings`);
  for (const [path, text] of Object.entries(files)) python.FS.writeFile(HOME + path, text);
  python.runPython("import importlib; importlib.invalidate_caches()");
}

/** @param {Python} python */
function importStandard(python) {
  for (const name of STANDARD.split(/\s+/)) {
    try {
      python.pyimport(name).destroy();
    } catch {
      // Left out of this runtime: then nothing here imports it either.
    }
  }
}

/** WebAssembly may be there and still be blocked, by a policy or a setting. */
function requireWebAssembly() {
  try {
    new WebAssembly.Module(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]));
  } catch (error) {
    throw new StartError(REASONS.webassembly, String(error));
  }
}

/**
 * Start Python; `report` is told the bytes as they come. `keep` stores what the next visit starts
 * from, and is called once the page has its answer.
 * @param {Boot} boot
 * @param {(loaded: number, total: number) => void} report
 */
export async function startPython(boot, report) {
  const { base, manifest, language, withSnapshot } = boot;
  const bundleFile = manifest.bundles[language];
  const wheelFile = manifest.core[manifest.wheel];
  requireWebAssembly();
  if (!bundleFile || !wheelFile) throw new StartError(REASONS.file, `calculators-${language}`);
  const stored = withSnapshot ? readSnapshot(base, manifest.key) : undefined;
  const downloads = new Downloads(base, report);
  const { files, wasm } = startDownloads(manifest, downloads);
  const bundle = downloads.start(bundleFile);
  const snapshot = await stored;
  const python = await loadCore(boot, files, wasm, snapshot);
  /** @type {Uint8Array<ArrayBuffer> | undefined} */
  let made;
  if (!snapshot) {
    importStandard(python);
    made = /** @type {Uint8Array<ArrayBuffer>} */ (python.makeMemorySnapshot());
  }
  await installWheel(python, await bytesOf(files, manifest.wheel));
  installCalculators(python, await bundle);
  await Promise.all(files.values());
  const page = python.pyimport("calculators.page");
  // What is loaded stays: the collector need not look at it again, which would cost a frame.
  python.pyimport("gc").freeze();
  const keep = made ? () => writeSnapshot(base, manifest.key, made) : undefined;
  return { python, respond: page.respond, urls: [...downloads.urls], isWarm: Boolean(snapshot), keep };
}
