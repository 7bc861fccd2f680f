/** The page's side of the service worker: what to keep, and a word when a newer site is there. */

import { LIMITS, SERVICE, STATES } from "./constants.js";
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

async function tellOfUpdate() {
  const worker = navigator.serviceWorker.controller;
  if (!worker || document.querySelector(".update-notice") || (await buildOf(worker)) === build()) return;
  const notice = document.createElement("p");
  notice.className = "update-notice";
  notice.setAttribute("role", "status");
  notice.append(say("update_ready"), " ", textButton(say("update_load"), () => location.reload()));
  document.body.append(notice);
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
  navigator.serviceWorker.addEventListener("controllerchange", () => void tellOfUpdate());
  await seen();
  await new Promise((resolve) => whenIdle(() => resolve(undefined), LIMITS.idleStart));
  try {
    const registration = await navigator.serviceWorker.register(`${base}sw.js`, { updateViaCache: "none" });
    const worker = await whenActive(registration);
    if (!worker) return;
    void tellOfUpdate();
    ask(worker);
    if (!savesData()) whenRuntimeRests(() => {
      ask(worker);
      worker.postMessage({ kind: SERVICE.language, build: build(), language });
    });
  } catch {
    // No service worker here (a private window, a policy): the site works without one.
  }
}

/** Call `action` when Python runs, cannot run, or is not wanted by this page. @param {() => void} action */
function whenRuntimeRests(action) {
  const isResting = () => runtime.state === "ready" || runtime.state === "failed";
  if (isResting() || !document.querySelector(`wiki-calculator[data-state="${STATES.static}"], wiki-calculator[data-state="${STATES.starting}"]`)) {
    return whenIdle(action, LIMITS.idleStart);
  }
  const check = () => {
    if (!isResting()) return;
    runtime.removeEventListener("state", check);
    whenIdle(action, LIMITS.idleStart);
  };
  runtime.addEventListener("state", check);
}
