/**
 * The stylesheet, changed rule by rule in place: a sheet loaded anew would have the browser look at
 * every element and every font again.
 */

/** @typedef {CSSStyleSheet | CSSGroupingRule} Rules */

const link = () => /** @type {HTMLLinkElement} */ (document.querySelector('head > link[rel="stylesheet"]'));

/** @param {string} address */
async function sheetAt(address) {
  const response = await fetch(address);
  return new CSSStyleSheet().replace(await response.text());
}

/** The sheet as the server last sent it. */
let kept = sheetAt(link().href);

/** @param {CSSRule} rule @param {CSSRule} other both group rules under the same words */
function isAlike(rule, other) {
  const [head, otherHead] = [rule, other].map(({ cssText }) => cssText.slice(0, cssText.indexOf("{")));
  return rule instanceof CSSGroupingRule && !(rule instanceof CSSStyleRule) && head === otherHead;
}

/** @param {Rules} shown what the reader sees, now like `before` @param {Rules} before @param {Rules} after */
function patchRules(shown, before, after) {
  const old = [...before.cssRules];
  const fresh = [...after.cssRules];
  if (shown.cssRules.length !== old.length) throw new Error("the sheet is not as it was sent");
  let start = 0;
  while (start < old.length && start < fresh.length && old[start]?.cssText === fresh[start]?.cssText) start += 1;
  while (old.length > start && fresh.length > start && old.at(-1)?.cssText === fresh.at(-1)?.cssText) {
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
    old.remove();
    document.dispatchEvent(new Event("wiki-changed"));
  });
  old.after(made);
}

/** @param {string} address */
export async function showStyle(address) {
  const fresh = await sheetAt(address);
  const before = await kept;
  kept = Promise.resolve(fresh);
  try {
    patchRules(/** @type {CSSStyleSheet} */ (link().sheet), before, fresh);
  } catch {
    return load(address);
  }
  document.dispatchEvent(new Event("wiki-changed"));
  return undefined;
}
