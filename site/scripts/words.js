/** The scripts' words in the page's language; the build takes them from site/strings/. */

import { language } from "./environment.js";

/** @type {Record<string, Record<string, string>>} */
const words = WIKI_WORDS;

/**
 * The sentence under `key`, its {names} filled.
 * @param {string} key @param {Record<string, string | number>} [params]
 */
export function say(key, params = {}) {
  const text = words[language]?.[key] ?? words["en"]?.[key];
  if (text === undefined) throw new Error(`site/strings lacks script.${key}`);
  return text.replace(/\{(\w+)\}/g, (whole, name) => String(params[name] ?? whole));
}
