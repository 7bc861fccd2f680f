/**
 * The page's side of the editor's server: news of every saved change, and the site's own scripts,
 * which are a bundle of their own so that another can take its place (dev/scripts.js). Bundled only by
 * that server; a published site knows nothing of it.
 */

import "./dev/origin.js"; // first: it keeps the page as the server sent it, before scripts change it
import { show } from "./dev/page.js";
import { listenForFaults, recompute, start } from "./dev/scripts.js";
import { showTroubles } from "./dev/troubles.js";

/** @param {any} message */
async function take(message) {
  if (message.kind === "page") await show(message.html);
  else if (message.kind === "calculators") await recompute(message.names);
  else if (message.kind === "troubles") showTroubles(message.items);
}

// One after the other: what a message finds is what the one before it has left.
let work = Promise.resolve();

/** @param {MessageEvent<string>} event */
function hear({ data }) {
  work = work.then(() => take(JSON.parse(data))).catch(reportError);
}

/** @type {EventSource | undefined} */
let news;

// Only a page that is looked at holds a connection, for browsers allow six to one server; what it
// has missed it is told when it is looked at again.
function listen() {
  news?.close();
  news = undefined;
  if (document.visibilityState !== "visible") return;
  const build = document.querySelector('meta[name="wiki-build"]')?.getAttribute("content") ?? "";
  news = new EventSource(`/-/events?path=${encodeURIComponent(location.pathname)}&build=${build}`);
  news.onmessage = hear;
}

document.addEventListener("visibilitychange", listen);
addEventListener("pagehide", () => news?.close());
addEventListener("pageshow", ({ persisted }) => persisted && location.reload());
listenForFaults();
work = start();
listen();
