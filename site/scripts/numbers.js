/** Numbers as readers write them: `1,5`, `1 234`, `−0.5`, `½`, `6×10⁻⁴`, `40 %`, full-width digits. */

const PLAIN = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const SUPERSCRIPTS = /[\u2070\u00b9\u00b2\u00b3\u2074-\u207b]+/g;
const VULGAR_FRACTIONS = /[\u00bc-\u00be\u2150-\u215f\u2189]/g;
const DASHES = /[\u2010-\u2015\u2212]/g;

/** The same spelling in plain characters. @param {string} text */
function plain(text) {
  return text
    .replace(SUPERSCRIPTS, "^$&") // Compatible forms of 10³ and 2½ would be 103 and 21/2.
    .replace(VULGAR_FRACTIONS, " $&")
    .normalize("NFKC")
    .replace(DASHES, "-")
    .replace(/(\d)\u3002(?=\d)/g, "$1.") // A Chinese keyboard's full stop.
    .replace(/(\d)[ _'\u2019](?=\d{3}(?!\d))/g, "$1")
    .replace(/ ?[×x*·⋅] ?10 ?(?:\^|\*\*) ?([+-]?\d+)/i, "e$1")
    .replace(/^([+-]?)10(?:\^|\*\*)(?=[+-]?\d+$)/, (_, sign) => `${sign}1e`)
    .trim()
    .replace(/^([+-]) /, "$1");
}

/** The readings of digits, points and commas. @param {string} text */
function decimals(text) {
  const [, digits = "", power = ""] = /^([^e]*)(e.*)?$/i.exec(text) ?? [];
  const found = [digits];
  if (/^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/.test(digits)) found.push(digits.replaceAll(",", ""));
  if (/^[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?$/.test(digits)) found.push(digits.replaceAll(".", ""));
  return [...new Set(found.map((item) => item.replace(",", ".") + power))].filter((item) => PLAIN.test(item)).map(Number);
}

/**
 * Every number that `text` may mean: none where it is no number, two for `1,234`.
 * @param {string} text @returns {number[]}
 */
export function readings(text) {
  const trimmed = text.trim();
  if (PLAIN.test(trimmed)) return [Number(trimmed)].filter(Number.isFinite);
  const spelled = plain(trimmed);
  if (spelled.endsWith("%")) return readings(spelled.slice(0, -1)).map((value) => value / 100);
  const fraction = /^([+-]?)(?:(\d+) )?([^/⁄ ]+) ?[/⁄] ?([^/⁄ ]+)$/.exec(spelled);
  if (!fraction) return decimals(spelled).filter(Number.isFinite);
  const [, sign, whole = 0, above = "", below = ""] = fraction;
  const quotients = decimals(above).flatMap((top) => decimals(below).map((bottom) => Number(whole) + top / bottom));
  return quotients.map((value) => (sign === "-" ? -value : value)).filter(Number.isFinite);
}
