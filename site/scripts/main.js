/** Everything that comes alive in a page. Runs once the page's HTML is complete. */

import { LIMITS, TAGS } from "./constants.js";
import { savesData, seen, whenIdle } from "./environment.js";
import { keepPlace } from "./language-switch.js";
import { runtime } from "./runtime.js";
import { keepOffline } from "./offline.js";
import { closeSheetOnArrival } from "./sheet.js";
import { WikiCalculator } from "./wiki-calculator.js";
import { WikiCases } from "./wiki-cases.js";
import { WikiContents } from "./wiki-contents.js";
import { WikiExercise } from "./wiki-exercise.js";
import { WikiFigure } from "./wiki-figure.js";
import { WikiRecord } from "./wiki-record.js";
import { WikiSearch } from "./wiki-search.js";
import { WikiTerm } from "./wiki-term.js";

/** @type {Record<keyof typeof TAGS, CustomElementConstructor>} */
const ELEMENTS = {
  calculator: WikiCalculator,
  cases: WikiCases,
  contents: WikiContents,
  exercise: WikiExercise,
  figure: WikiFigure,
  record: WikiRecord,
  search: WikiSearch,
  term: WikiTerm,
};

for (const [name, element] of Object.entries(ELEMENTS)) {
  customElements.define(TAGS[/** @type {keyof typeof TAGS} */ (name)], element);
}
keepPlace();
closeSheetOnArrival();

/** Python starts once the page has been painted, is looked at, and the browser is idle. */
async function startWhenIdle() {
  if (!document.querySelector(TAGS.calculator) || savesData()) return;
  await seen();
  requestAnimationFrame(() => setTimeout(() => whenIdle(() => runtime.start(), LIMITS.idleStart)));
}

void startWhenIdle();
void keepOffline();
