/** The service worker while a site is edited: it takes away what a published one has kept. */

const scope = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
const prefix = `wiki:${new URL(scope.registration.scope).pathname}:`;

scope.addEventListener("install", () => void scope.skipWaiting());
scope.addEventListener("activate", (event) => event.waitUntil(clear()));

async function clear() {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith(prefix)).map((name) => caches.delete(name)));
  await scope.registration.unregister();
}
