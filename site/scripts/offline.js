/** The page's side of the service worker: what to keep, and a word when a newer site is there. */

import { LIMITS, SERVICE, TAGS } from "./constants.js";
import { base, build, language, manifestAddress, savesData, seen, whenIdle, workerAddress } from "./environment.js";
import { runtime } from "./runtime.js";
import { textButton } from "./status.js";
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
  if (document.querySelector(".update-notice")) return;
  const notice = document.createElement("p");
  notice.className = "update-notice";
  notice.setAttribute("role", "status");
  notice.append(say("update_ready"), " ", textButton(say("update_load"), () => {
    navigator.serviceWorker.addEventListener("controllerchange", () => location.reload(), { once: true });
    worker.postMessage({ kind: SERVICE.takeOver });
  }));
  document.body.append(notice);
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

/** The service worker that runs, once it does. @param {ServiceWorkerRegistration} registration */
function whenActive(registration) {
  return registration.active ? Promise.resolve(registration.active) : navigator.serviceWorker.ready.then((found) => found.active);
}

export async function keepOffline() {
  if (!("serviceWorker" in navigator) || !isSecureContext) return;
  navigator.serviceWorker.addEventListener("message", ({ data, ports }) => {
    if (data.kind === SERVICE.build) ports[0]?.postMessage(build());
  });
  await seen();
  await restOfRuntime();
  try {
    const registration = await navigator.serviceWorker.register(`${base}sw.js`, { updateViaCache: "none" });
    watchUpdates(registration);
    const worker = await whenActive(registration);
    if (!worker) return;
    ask(worker);
    runtime.addEventListener("state", () => runtime.state === "ready" && ask(worker));
    runtime.addEventListener("fetched", () => ask(worker));
    if (!savesData()) worker.postMessage({ kind: SERVICE.language, build: build(), language });
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
