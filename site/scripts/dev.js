/**
 * The page's side of the editor's server: the site's own scripts, and news of every saved change.
 * Bundled only by that server; a published site knows nothing of it.
 */

import "./dev/origin.js"; // first: it keeps the page as the server sent it, before scripts change it
import "./main.js";
import { recompute } from "./dev/calculators.js";
import { show } from "./dev/page.js";
import { showTroubles } from "./dev/troubles.js";
import { build } from "./environment.js";

/** @param {MessageEvent<string>} event */
function hear({ data }) {
  const message = JSON.parse(data);
  if (message.kind === "page") show(message.html);
  else if (message.kind === "calculators") void recompute(message.names);
  else if (message.kind === "troubles") showTroubles(message.items);
}

/** @type {EventSource | undefined} */
let news;

// Only a page that is looked at holds a connection, for browsers allow six to one server; what it
// has missed it is told when it is looked at again.
function listen() {
  news?.close();
  news = undefined;
  if (document.visibilityState !== "visible") return;
  news = new EventSource(`/-/events?path=${encodeURIComponent(location.pathname)}&build=${build()}`);
  news.addEventListener("message", hear);
}

listen();
document.addEventListener("visibilitychange", listen);
addEventListener("pagehide", () => news?.close());
addEventListener("pageshow", ({ persisted }) => persisted && location.reload());
