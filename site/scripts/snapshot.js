/**
 * The memory of a started Python, kept in Cache Storage so that the next visit starts from it.
 *
 * It is keyed by the hash of every runtime file, and stored with its own SHA-256: a damaged or
 * foreign one is dropped, never loaded. numpy cannot be part of it (Pyodide refuses a snapshot
 * that holds loaded extension modules).
 */

import { CACHES } from "./constants.js";
import { sha256 } from "./files.js";

/** Raise it when what a snapshot holds changes. */
const VERSION = 1;

/** @param {string} base @param {string} key */
function address(base, key) {
  return `${base}snapshot-${VERSION}-${key}`;
}

/** @param {string} base @param {string} key */
export async function readSnapshot(base, key) {
  try {
    const cache = await caches.open(CACHES.snapshot);
    const found = await cache.match(address(base, key));
    if (!found) return undefined;
    const bytes = new Uint8Array(await found.arrayBuffer());
    if ((await sha256(bytes)) === found.headers.get("x-sha256")) return bytes;
    await dropSnapshots();
  } catch {
    // No Cache Storage here (a private window, say): a normal start it is.
  }
  return undefined;
}

/**
 * Keep `bytes` as the only snapshot of this site.
 * @param {string} base @param {string} key @param {Uint8Array<ArrayBuffer>} bytes
 */
export async function writeSnapshot(base, key, bytes) {
  const hash = await sha256(bytes);
  const cache = await caches.open(CACHES.snapshot);
  const own = address(base, key);
  for (const request of await cache.keys()) {
    if (request.url !== own && request.url.startsWith(base)) await cache.delete(request);
  }
  try {
    await cache.put(own, new Response(bytes, { headers: { "x-sha256": hash } }));
  } catch (error) {
    await dropSnapshots();
    throw error;
  }
}

export async function dropSnapshots() {
  try {
    await caches.delete(CACHES.snapshot);
  } catch {
    // Nothing can be kept here, so there is nothing to drop.
  }
}
