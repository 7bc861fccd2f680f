/**
 * Bundles for the editor's server, one JSON line in and one out. `{"name", "entry", "format", "define",
 * "apart", "inject"}` gives the bundle's files and their sources; what was bundled before is bundled again in
 * milliseconds. `apart` are packages that have a bundle of their own, by the address they are imported
 * from; `inject` are files whose exports take the place of the browser's names. A font that an earlier
 * answer held is not read again. `{"file", "line", "column"}` gives the source of a place in a bundle.
 */

import { basename, dirname, join, relative } from "node:path";
import { SourceMap } from "node:module";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { context } from "esbuild";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const MAPS = 20;

/** By name and entry: the newest options and their context. @type {Map<string, {options: string, made: import("esbuild").BuildContext<any>}>} */
const contexts = new Map();
/** The newest source maps by the name of their bundle. @type {Map<string, string>} */
const maps = new Map();

/** @param {Record<string, string>} apart @returns {import("esbuild").Plugin} */
function keptApart(apart) {
  return {
    name: "apart",
    setup(build) {
      build.onResolve({ filter: /^@?[\w-]/ }, ({ path }) => (apart[path] ? { path: apart[path], external: true } : undefined));
    },
  };
}

/** Where the fonts lie that a bundle has brought, by their source: they need not be read again. @type {Map<string, string>} */
const fonts = new Map();

/** @type {import("esbuild").Plugin} */
const keptFonts = {
  name: "fonts",
  setup(build) {
    build.onResolve({ filter: /\.woff2$/ }, ({ path, resolveDir }) => {
      const kept = fonts.get(join(resolveDir, path));
      return kept ? { path: kept, external: true } : undefined;
    });
  },
};

/** @param {import("esbuild").Metafile | undefined} metafile */
function keepFonts(metafile) {
  for (const [output, { inputs }] of Object.entries(metafile?.outputs ?? {})) {
    const [source] = Object.keys(inputs);
    if (source && output.endsWith(".woff2")) fonts.set(join(ROOT, source), `./${basename(output)}`);
  }
}

/** @typedef {{name: string, entry: string, format: "esm" | "iife", define: Record<string, string>, apart: Record<string, string>, inject: string[]}} Bundle */

/** @param {Bundle} request */
async function contextOf(request) {
  const key = `${request.name} ${request.entry}`;
  const options = JSON.stringify(request);
  const known = contexts.get(key);
  if (known?.options === options) return known.made;
  await known?.made.dispose();
  const made = await context(optionsOf(request));
  contexts.set(key, { options, made });
  return made;
}

/** @param {Bundle} request @returns {import("esbuild").BuildOptions} */
function optionsOf({ name, entry, format, define, apart, inject }) {
  const isLibrary = entry.startsWith("@");
  const isStyle = entry.endsWith(".css");
  return {
    entryPoints: { [name]: isLibrary ? entry : join(ROOT, entry) },
    absWorkingDir: ROOT,
    outdir: join(ROOT, "assets"),
    bundle: true,
    write: false,
    metafile: true,
    ...(isStyle ? {} : { format }),
    splitting: format === "esm" && entry.endsWith(".js"),
    sourcemap: isLibrary || isStyle ? false : "external",
    sourcesContent: false,
    target: "es2022",
    charset: "utf8",
    logLevel: "silent",
    define,
    inject: inject.map((path) => join(ROOT, path)),
    plugins: isStyle ? [keptFonts] : [keptApart(apart)],
    loader: { ".woff2": "file", ".woff": "empty", ".ttf": "empty" },
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
  };
}

/** @param {Bundle} request */
async function bundled(request) {
  const { outputFiles = [], metafile, warnings = [] } = await (await contextOf(request)).rebuild();
  keepFonts(metafile);
  /** @type {Record<string, string>} */
  const files = {};
  let entry = "";
  for (const { path, contents, text } of outputFiles) {
    const name = basename(path);
    if (name.endsWith(".map")) {
      keepMap(name, text);
      continue;
    }
    if (name.startsWith(`${request.name}-`)) entry = name;
    files[name] = Buffer.from(contents).toString("base64");
  }
  return { ok: { entry, files, inputs: Object.keys(metafile?.inputs ?? {}) }, warnings: warnings.map(message) };
}

/** @param {string} name @param {string} text */
function keepMap(name, text) {
  maps.delete(name);
  maps.set(name, text);
  for (const old of [...maps.keys()].slice(0, -MAPS)) maps.delete(old);
}

/** @param {{file: string, line: number, column: number}} place counted from one, as stacks do */
function located({ file, line, column }) {
  const map = maps.get(`${file}.map`);
  const found = map && new SourceMap(JSON.parse(map)).findOrigin(line, column);
  if (!found || !("fileName" in found)) return { ok: null };
  return { ok: { file: relative(ROOT, join(ROOT, "assets", found.fileName)), line: found.lineNumber } };
}

/** @param {any} error */
function described(error) {
  const [first] = error.errors ?? [];
  return { error: first ? message(first) : { message: String(error) } };
}

/** @param {import("esbuild").Message} found */
function message({ text, location, notes }) {
  const { file = "", line = 1, lineText = "" } = location ?? {};
  return { message: text, file, line, text: lineText, note: notes?.[0]?.text ?? "" };
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const request = JSON.parse(line);
  const reply = await ("entry" in request ? bundled(request).catch(described) : located(request));
  process.stdout.write(JSON.stringify(reply) + "\n");
}
for (const { made } of contexts.values()) await made.dispose();
