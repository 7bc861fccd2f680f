/** The page's side of the service worker: what to keep, and a word when a newer site is there or no room. */

import { LIMITS, SERVICE, TAGS } from "./constants.js";
import { base, build, language, manifestAddress, savesData, seen, whenIdle, workerAddress } from "./environment.js";
import { runtime } from "./runtime.js";
import { showNotice } from "./notices.js";
import { textButton } from "./status.js";
import { noteRoom } from "./storage.js";
import { say } from "./words.js";

/** What this page is made of: itself, and every file of the site that it has loaded. */
function ownFiles() {
  const loaded = performance.getEntriesByType("resource").map(({ name }) => name);
  return [location.href, ...loaded.filter((url) => url.startsWith(base)), workerAddress, manifestAddress];
}

/** @param {ServiceWorker} worker */
function ask(worker) {
  worker.postMessage({ kind: SERVICE.keep, build: build(), urls: [...ownFiles(), ...runtime.urls] });
}

/** @param {ServiceWorker} worker @returns {Promise<string>} */
function buildOf(worker) {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => resolve(data);
    worker.postMessage({ kind: SERVICE.build }, [port2]);
  });
}

/** A service worker of another build waits: offer it. One of this page's own build may take over. @param {ServiceWorker} worker */
async function offerUpdate(worker) {
  if ((await buildOf(worker)) === build()) return worker.postMessage({ kind: SERVICE.takeOver });
  const load = () => {
    navigator.serviceWorker.addEventListener("controllerchange", () => location.reload(), { once: true });
    worker.postMessage({ kind: SERVICE.takeOver });
  };
  showNotice("update", [say("update_ready"), " ", textButton(say("update_load"), load)]);
}

/** @param {ServiceWorkerRegistration} registration */
function watchUpdates(registration) {
  const look = () => {
    if (registration.waiting) void offerUpdate(registration.waiting);
  };
  registration.addEventListener("updatefound", () => registration.installing?.addEventListener("statechange", look));
  registration.installing?.addEventListener("statechange", look);
  look();
}

/**
 * The service worker that runs, once it does; rejects if it could not be installed.
 * @param {ServiceWorkerRegistration} registration
 * @returns {Promise<ServiceWorker | null>}
 */
function whenActive({ active, installing }) {
  if (active) return Promise.resolve(active);
  return new Promise((resolve, reject) => {
    void navigator.serviceWorker.ready.then((found) => resolve(found.active));
    installing?.addEventListener("statechange", () => {
      if (installing.state === "redundant") reject(new Error("not installed"));
    });
  });
}

export async function keepOffline() {
  runtime.addEventListener("room", (event) => {
    noteRoom({ snapshot: /** @type {CustomEvent} */ (event).detail }, keepAgain);
  });
  if (!("serviceWorker" in navigator) || !isSecureContext) return;
  navigator.serviceWorker.addEventListener("message", ({ data, ports }) => {
    if (data.kind === SERVICE.build) ports[0]?.postMessage(build());
    else if (data.kind === SERVICE.room) noteRoom(data.hasRoom, keepAgain);
  });
  await seen();
  await restOfRuntime();
  await keepSite();
}

/** There may be room now. */
function keepAgain() {
  runtime.store();
  void keepSite();
}

/** What is kept up to date already. @type {ServiceWorkerRegistration | undefined} */
let watched;

/** Where an install found no room, it is tried again. */
async function keepSite() {
  try {
    const registration = await navigator.serviceWorker.register(`${base}sw.js`, { updateViaCache: "none" });
    const isNew = registration !== watched;
    if (isNew) watchUpdates(registration);
    watched = registration;
    const worker = await whenActive(registration);
    if (!worker) return;
    ask(worker);
    if (!savesData()) worker.postMessage({ kind: SERVICE.language, build: build(), language });
    if (!isNew) return;
    runtime.addEventListener("state", () => runtime.state === "ready" && ask(worker));
    runtime.addEventListener("fetched", () => ask(worker));
  } catch {
    // No service worker here (a private window, a policy): the site works without one.
  }
}

/** Resolves when Python runs, cannot run, or is not wanted by this page, and the browser is idle. */
function restOfRuntime() {
  return new Promise((resolve) => {
    const check = () => {
      const isWanted = document.querySelector(TAGS.calculator) && !savesData();
      if (isWanted && (runtime.state === "off" || runtime.state === "starting")) return;
      runtime.removeEventListener("state", check);
      whenIdle(() => resolve(undefined), LIMITS.idleStart);
    };
    runtime.addEventListener("state", check);
    check();
  });
}
