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

const address = `/-/events?path=${encodeURIComponent(location.pathname)}&build=${build()}`;
const news = new EventSource(address);

news.addEventListener("message", ({ data }) => {
  const message = JSON.parse(data);
  if (message.kind === "page") show(message.html);
  else if (message.kind === "calculators") void recompute(message.names);
  else if (message.kind === "troubles") showTroubles(message.items);
});
// A page that is left must not hold a connection: browsers allow six to one server.
addEventListener("pagehide", () => news.close());
addEventListener("pageshow", ({ persisted }) => persisted && location.reload());
