/** Everything that comes alive in a page. Runs once the page's HTML is complete. */

import { LIMITS, TAGS } from "./constants.js";
import { savesData, seen, whenIdle } from "./environment.js";
import { runtime } from "./runtime.js";
import { WikiCalculator } from "./wiki-calculator.js";

customElements.define(TAGS.calculator, WikiCalculator);

/** Python starts once the page has been painted, is looked at, and the browser is idle. */
async function startWhenIdle() {
  if (!document.querySelector(TAGS.calculator) || savesData()) return;
  await seen();
  requestAnimationFrame(() => setTimeout(() => whenIdle(() => runtime.start(), LIMITS.idleStart)));
}

void startWhenIdle();
