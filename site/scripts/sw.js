/**
 * The service worker: the site without a network, and never a mix of two builds.
 *
 * A file is known by its build and its path. Where the path holds a hash of the content, the path
 * is enough, and one cache serves all builds. Pages and the few files with plain names (records,
 * the web manifest) are kept in a cache of their build, and only if they have the SHA-256 that the
 * build's manifest states. A page names its build in what it asks for (`?build=HASH`), so that an
 * old page still open after an update is never answered from the cache of another build.
 *
 * Where storage is full, what was asked for is kept whole or not at all, and the page is told: a
 * build without its styles and scripts is not installed, a page without what it needs is let go.
 */

import { SERVICE } from "./constants.js";
import { sha256 } from "./files.js";
import { hasRoomFor, isFull } from "./room.js";
import { isHashed, pathOf, toFile } from "./site-paths.js";

const BUILD = "WIKI_BUILD_PLACEHOLDER";
const MANIFEST = "build.json";
const CLIENT_ANSWER = 3_000;

/** @typedef {{build: string, files: Record<string, {sha256: string, bytes: number}>}} Manifest */

const scope = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
const root = scope.registration.scope;
/** Copies of the site under other paths of this origin have caches of their own. */
const prefix = `wiki:${new URL(root).pathname}:`;
const HASHED = `${prefix}hashed`;

/** @param {string} build */
function cacheOf(build) {
  return `${prefix}build-${build}`;
}

/** The manifest of a build that is kept here. @param {string} build @returns {Promise<Manifest | undefined>} */
async function manifestOf(build) {
  const found = await caches.match(root + MANIFEST, { cacheName: cacheOf(build) });
  if (found || build !== BUILD) return found?.json();
  return fetchManifest().catch(() => undefined);
}

/** This build's manifest from the network, kept if there is room. @returns {Promise<Manifest>} */
async function fetchManifest() {
  const response = await fetch(root + MANIFEST, { cache: "no-store" });
  /** @type {Manifest} */
  const manifest = await response.clone().json();
  // In the middle of an upload the two may differ; the browser asks again later.
  if (manifest.build !== BUILD) throw new Error(`build.json is of ${manifest.build}, not ${BUILD}`);
  await put(cacheOf(BUILD), root + MANIFEST, response);
  return manifest;
}

/**
 * Rejects where storage is full; a store that fails otherwise is done without.
 * @param {string} name @param {string} url @param {Response} response
 */
async function put(name, url, response) {
  try {
    await (await caches.open(name)).put(url, response);
  } catch (error) {
    if (isFull(error)) throw error;
  }
}

/** Put what passes through on its way to a page. @param {Promise<unknown>} stored */
async function passing(stored) {
  if (!(await hasRoomFor(() => stored))) await tellRoom({ page: false });
}

/** Keep what every page is made of; without it this build is not installed. */
async function install() {
  const manifest = await fetchManifest();
  const shell = Object.keys(manifest.files).filter((path) => /^assets\/[^/]+\.(css|js)$/.test(path));
  const kept = await Promise.allSettled(shell.map((path) => keep(path, manifest)));
  const failed = kept.find((result) => result.status === "rejected");
  if (failed) throw failed.reason;
  const found = await Promise.all(shell.map((path) => caches.match(root + path, { cacheName: HASHED })));
  if (found.includes(undefined)) throw new Error("a script or style of this build is not to be had");
}

/** An install that failed leaves nothing behind. @param {unknown} error */
async function clearInstall(error) {
  await caches.delete(cacheOf(BUILD));
  const others = (await caches.keys()).filter((name) => name.startsWith(`${prefix}build-`));
  // With another build here, its service worker knows which of these files are nobody's.
  if (others.length === 0) await caches.delete(HASHED);
  if (isFull(error)) await tellRoom({ page: false });
  throw error;
}

/**
 * Tell every page of this site what there was room for.
 * @param {Record<string, boolean>} hasRoom
 */
async function tellRoom(hasRoom) {
  for (const page of await ownPages()) page.postMessage({ kind: SERVICE.room, hasRoom });
}

/**
 * Fetch a file of a build into the cache it belongs to; a wrong one is not kept. Where the file was
 * put, if it was not there.
 * @param {string} path @param {Manifest} manifest @param {RequestInit} [options]
 * @returns {Promise<{name: string, url: string} | undefined>}
 */
async function keep(path, manifest, options) {
  const entry = manifest.files[path];
  if (!entry) return undefined;
  const name = isHashed(path) ? HASHED : cacheOf(manifest.build);
  const url = root + path.replace(/(^|\/)index\.html$/, "$1");
  if (await caches.match(url, { cacheName: name })) return undefined;
  const response = await fetch(url, options);
  if (!response.ok || response.redirected) return undefined;
  return (await putIfRight(name, url, response, entry.sha256)) ? { name, url } : undefined;
}

/**
 * Keep all of `paths`, or none that was not there before; whether there was room.
 * @param {string[]} paths @param {Manifest} manifest
 */
async function keepAll(paths, manifest) {
  const added = [];
  for (const path of paths) {
    try {
      added.push(await keep(path, manifest));
    } catch (error) {
      if (!isFull(error)) continue; // No network for it now.
      for (const place of added) if (place) await (await caches.open(place.name)).delete(place.url);
      return false;
    }
  }
  return true;
}

/** @param {string} name @param {string} url @param {Response} response @param {string} hash */
async function putIfRight(name, url, response, hash) {
  const copy = response.clone();
  const isRight = (await sha256(new Uint8Array(await response.arrayBuffer()))) === hash;
  if (isRight) await put(name, url, copy);
  return isRight;
}

async function ownPages() {
  const pages = await scope.clients.matchAll({ type: "window", includeUncontrolled: true });
  return pages.filter((page) => page.url.startsWith(root));
}

/** The build that each open page says it is of; undefined if one does not answer. */
async function openBuilds() {
  const answers = await Promise.all((await ownPages()).map(askBuild));
  return answers.includes(undefined) ? undefined : new Set(answers);
}

/** @param {Client} page @returns {Promise<string | undefined>} */
function askBuild(page) {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => resolve(data);
    setTimeout(() => resolve(undefined), CLIENT_ANSWER);
    page.postMessage({ kind: SERVICE.build }, [port2]);
  });
}

/** Remove the caches of builds that no page is of, and hashed files that no kept build lists. */
async function prune() {
  const open = await openBuilds();
  // What a newer service worker is fetching is not ours to remove.
  if (!open || scope.registration.installing || scope.registration.waiting) return;
  const needed = new Set([...open, BUILD].map((build) => cacheOf(build ?? "")));
  for (const name of await caches.keys()) {
    if (name.startsWith(`${prefix}build-`) && !needed.has(name)) await caches.delete(name);
  }
  const manifests = await Promise.all([...open, BUILD].map((build) => manifestOf(build ?? "")));
  const listed = new Set(manifests.flatMap((manifest) => Object.keys(manifest?.files ?? {})));
  const hashed = await caches.open(HASHED);
  for (const { url } of await hashed.keys()) {
    if (!listed.has(url.slice(root.length))) await hashed.delete(url);
  }
}

/** @param {FetchEvent} event @returns {Promise<Response>} */
async function page(event) {
  const path = pathOf(event.request.url, root);
  const url = root + path;
  const cached = await caches.match(url, { cacheName: cacheOf(BUILD) });
  if (cached) return cached;
  try {
    const response = await fetch(event.request);
    event.waitUntil(passing(keepPage(path, response.clone())));
    return response;
  } catch {
    return offlinePage(path);
  }
}

/** Keep a page that came from the network if it is of this build; if not, there is a new one. @param {string} path @param {Response} response */
async function keepPage(path, response) {
  const entry = (await manifestOf(BUILD))?.files[toFile(path)];
  if (!entry || !response.ok || response.redirected) return;
  if (!(await putIfRight(cacheOf(BUILD), root + path, response, entry.sha256))) await scope.registration.update();
}

/** @param {string} path */
function offlinePage(path) {
  const language = path.split("/")[0] ?? "";
  const words = WIKI_WORDS[language] ?? Object.values(WIKI_WORDS)[0] ?? {};
  const home = `${root}${language in WIKI_WORDS ? `${language}/` : ""}`;
  const html = `<!doctype html><html lang="${language in WIKI_WORDS ? language : "en"}"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<title>${words["offline_title"]}</title><h1>${words["offline_title"]}</h1><p>${words["offline_text"]}</p>
<p><a href="${home}">${words["offline_home"]}</a></p></html>`;
  return new Response(html, { status: 503, headers: { "content-type": "text/html; charset=utf-8" } });
}

/** A file whose path says what it is. @param {FetchEvent} event */
async function hashedFile(event) {
  const { request } = event;
  const cached = request.cache === "reload" ? undefined : await caches.match(request.url, { cacheName: HASHED });
  if (cached) return cached;
  const response = await fetch(request);
  if (response.status === 200) event.waitUntil(passing(put(HASHED, request.url, response.clone())));
  return response;
}

/** A file with a plain name, of the build that the page is of. @param {string} path @param {string} build */
async function plainFile(path, build) {
  const name = cacheOf(build);
  const cached = await caches.match(root + path, { cacheName: name });
  if (cached) return cached;
  const response = await fetch(root + path);
  const entry = (await manifestOf(build))?.files[path];
  if (!entry || !response.ok) return response;
  // One that is not this build's is not kept; the page that asked judges what it says.
  await passing(putIfRight(name, root + path, response.clone(), entry.sha256));
  return response;
}

/** @param {FetchEvent} event */
function answer(event) {
  const { request } = event;
  if (request.method !== "GET" || !request.url.startsWith(root)) return;
  if (request.mode === "navigate") return event.respondWith(page(event));
  const path = pathOf(request.url, root);
  const build = new URL(request.url).searchParams.get("build");
  if (isHashed(path)) event.respondWith(hashedFile(event));
  else if (build) event.respondWith(plainFile(path, build));
}

/** What a page asks to be kept: itself, what it is made of, what Python was started from. @param {{build: string, urls: string[]}} message */
async function keepFor({ build, urls }) {
  const manifest = await manifestOf(build);
  if (!manifest) return;
  const paths = urls.filter((url) => url.startsWith(root)).map((url) => toFile(pathOf(url, root)));
  const [python, page] = [true, false].map((isWanted) => paths.filter((path) => path.startsWith("runtime/") === isWanted));
  // A page can be read without Python, but Python does not start from half of its files.
  const hasRoom = (await keepAll(page ?? [], manifest)) && (await keepAll(python ?? [], manifest));
  await tellRoom({ page: hasRoom });
  await prune();
}

/** Everything of one language, one file after the other, behind whatever else is loading. @param {string} language */
async function keepLanguage(language) {
  const manifest = await manifestOf(BUILD);
  if (!manifest) return;
  const options = /** @type {RequestInit} */ ({ priority: "low" });
  for (const path of Object.keys(manifest.files)) {
    const isOwn = [`${language}/`, `grids/${language}/`].some((folder) => path.startsWith(folder)) && !/\.(br|gz)$/.test(path);
    const isWanted = isOwn || /^(assets|pagefind)\/|^records\/[^/]+\.json$|^manifest\./.test(path);
    if (isWanted && !(await hasRoomFor(() => keep(path, manifest, options)))) return tellRoom({ language: false });
  }
  await tellRoom({ language: true });
}

scope.addEventListener("install", (event) => event.waitUntil(install().catch(clearInstall)));
// It takes over open pages only when one of them asks: a page whose Python is just starting would
// lose requests that are on their way.
scope.addEventListener("activate", (event) => event.waitUntil(prune()));
scope.addEventListener("fetch", answer);
scope.addEventListener("message", (event) => {
  const { data, ports } = event;
  if (data.kind === SERVICE.keep) event.waitUntil(keepFor(data));
  else if (data.kind === SERVICE.language && data.build === BUILD) event.waitUntil(keepLanguage(data.language));
  else if (data.kind === SERVICE.build) ports[0]?.postMessage(BUILD);
  else if (data.kind === SERVICE.takeOver) event.waitUntil(scope.skipWaiting());
});
