/**
 * The stylesheet, changed rule by rule in place: a sheet loaded anew would have the browser look at
 * every element and every font again.
 */

/** @typedef {CSSStyleSheet | CSSGroupingRule} Rules */

const link = () => /** @type {HTMLLinkElement | null} */ (document.querySelector('head > link[rel="stylesheet"]'));

/** @param {string} address */
async function sheetAt(address) {
  const response = await fetch(address);
  return new CSSStyleSheet().replace(await response.text());
}

const first = link();
/** The sheet as the server last sent it. */
let kept = first ? sheetAt(first.href) : Promise.reject(new Error("a page without a style"));
kept.catch(() => {}); // whoever asks for it is told

/** A rule's text takes the browser a while, and is asked for again with the next change. @type {WeakMap<CSSRule, string>} */
const texts = new WeakMap();

/** @param {CSSRule | undefined} rule */
function textOf(rule) {
  if (!rule) return undefined;
  const text = texts.get(rule) ?? rule.cssText;
  texts.set(rule, text);
  return text;
}

/** @param {CSSRule} rule @param {CSSRule} other both group rules under the same words */
function isAlike(rule, other) {
  const [head, otherHead] = [rule, other].map((item) => textOf(item)?.split("{", 1)[0]);
  return rule instanceof CSSGroupingRule && !(rule instanceof CSSStyleRule) && head === otherHead;
}

/** @param {Rules} shown what the reader sees, now like `before` @param {Rules} before @param {Rules} after */
function patchRules(shown, before, after) {
  const old = [...before.cssRules];
  const fresh = [...after.cssRules];
  if (shown.cssRules.length !== old.length) throw new Error("the sheet is not as it was sent");
  let start = 0;
  while (start < old.length && start < fresh.length && textOf(old[start]) === textOf(fresh[start])) start += 1;
  while (old.length > start && fresh.length > start && textOf(old.at(-1)) === textOf(fresh.at(-1))) {
    old.pop();
    fresh.pop();
  }
  for (let at = old.length - 1; at >= fresh.length; at -= 1) shown.deleteRule(at);
  for (let at = start; at < fresh.length; at += 1) {
    const [here, was, wanted] = [shown.cssRules[at], old[at], /** @type {CSSRule} */ (fresh[at])];
    if (was && here && isAlike(was, wanted)) {
      patchRules(/** @type {Rules} */ (here), /** @type {Rules} */ (was), /** @type {Rules} */ (wanted));
      continue;
    }
    if (was) shown.deleteRule(at);
    shown.insertRule(wanted.cssText, at);
  }
}

/** Where rules cannot be changed in place: the new sheet, and the old one until it is there. @param {string} address */
function load(address) {
  const old = link();
  const made = document.createElement("link");
  made.rel = "stylesheet";
  made.href = address;
  made.addEventListener("load", () => {
    old?.remove();
    document.dispatchEvent(new Event("wiki-changed"));
  });
  document.head.append(made);
}

/** @param {string} address */
export async function showStyle(address) {
  const fresh = await sheetAt(address);
  const before = kept;
  kept = Promise.resolve(fresh);
  try {
    patchRules(/** @type {CSSStyleSheet} */ (link()?.sheet), await before, fresh);
  } catch {
    return load(address);
  }
  document.dispatchEvent(new Event("wiki-changed"));
  return undefined;
}
