/**
 * Bundles for the editor's server: `{"name", "entry", "format", "define", "apart"}` in, the bundle's
 * files out, one JSON line each. What was bundled before is bundled again in milliseconds. `apart` are
 * packages that have a bundle of their own, by the address they are imported from. A font that an
 * earlier answer held is not sent again.
 */

import { basename, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { context } from "esbuild";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

/** @type {Map<string, import("esbuild").BuildContext<any>>} */
const contexts = new Map();
/** @type {Set<string>} */
const sent = new Set();

/** @param {Record<string, string>} apart @returns {import("esbuild").Plugin} */
function keptApart(apart) {
  return {
    name: "apart",
    setup(build) {
      build.onResolve({ filter: /^@?[\w-]/ }, ({ path }) => (apart[path] ? { path: apart[path], external: true } : undefined));
    },
  };
}

/** @typedef {{name: string, entry: string, format: "esm" | "iife", define: Record<string, string>, apart: Record<string, string>}} Bundle */

/** @param {Bundle} request */
async function contextOf({ name, entry, format, define, apart }) {
  const key = JSON.stringify([name, entry, define, apart]);
  const known = contexts.get(key);
  if (known) return known;
  const made = await context({
    entryPoints: { [name]: entry.startsWith("@") ? entry : join(ROOT, entry) },
    absWorkingDir: ROOT,
    outdir: "/assets",
    bundle: true,
    write: false,
    format: entry.endsWith(".css") ? undefined : format,
    splitting: format === "esm" && entry.endsWith(".js"),
    target: "es2022",
    charset: "utf8",
    logLevel: "silent",
    define,
    plugins: [keptApart(apart)],
    loader: { ".woff2": "file", ".woff": "empty", ".ttf": "empty" },
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
  });
  contexts.set(key, made);
  return made;
}

/** @param {Bundle} request */
async function answer(request) {
  const { outputFiles = [] } = await (await contextOf(request)).rebuild();
  /** @type {Record<string, string>} */
  const files = {};
  let entry = "";
  for (const { path, contents } of outputFiles) {
    const name = basename(path);
    if (name.startsWith(`${request.name}-`)) entry = name;
    if (sent.has(name)) continue;
    if (name.endsWith(".woff2")) sent.add(name);
    files[name] = Buffer.from(contents).toString("base64");
  }
  return { ok: { entry, files } };
}

/** @param {any} error */
function described(error) {
  const [first] = error.errors ?? [];
  if (!first) return { error: { message: String(error) } };
  const { file = "", line = 1, lineText = "" } = first.location ?? {};
  const note = first.notes?.[0]?.text ?? "";
  return { error: { message: first.text, file, line, text: lineText, note } };
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const reply = await answer(JSON.parse(line)).catch(described);
  process.stdout.write(JSON.stringify(reply) + "\n");
}
for (const made of contexts.values()) await made.dispose();
