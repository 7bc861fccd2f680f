/** Data files that a calculator asks for when it is used: fetched once, checked, put where Python reads them. */

import { REASONS } from "./constants.js";
import { Downloads, StartError } from "./files.js";

/** @typedef {import("./boot.js").Python} Python */
/** @typedef {import("./files.js").Manifest} Manifest */

const HOME = "/home/pyodide/";

/**
 * The names in an answer that says what it needs, or nothing.
 * @param {string} answer
 * @returns {string[] | undefined}
 */
export function neededBy(answer) {
  return answer.startsWith('{"ok": false, "needs"') ? JSON.parse(answer)["needs"] : undefined;
}

/**
 * @param {Python} python
 * @param {{base: string, manifest: Manifest}} boot
 * @param {string[]} names
 * @param {(loaded: number, total: number) => void} report
 * @returns {Promise<string[]>} the addresses, for who keeps them for offline reading
 */
export async function fetchData(python, { base, manifest }, names, report) {
  const downloads = new Downloads(base, report);
  await Promise.all(names.map(async (name) => {
    const file = manifest.data[name];
    if (!file) throw new StartError(REASONS.file, name);
    const bytes = await downloads.start(file);
    const path = HOME + file.at;
    python.FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
    python.FS.writeFile(path, bytes, { canOwn: true });
  }));
  return [...downloads.urls];
}
