/**
 * The same bytes for the same plot, in every engine and at every pixel density.
 *
 * Plot moves strokes by half a pixel on screens of density 1 and leaves seventeen digits in its
 * coordinates; documents differ in how they order and escape attributes. All of that is settled here.
 */

const GEOMETRY = ["d", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "width", "height", "transform"];

/**
 * Settle what Plot drew: no style of its own, no half pixels, two decimals.
 * @param {Element} svg
 */
export function settle(svg) {
  for (const style of [...svg.querySelectorAll("style")]) style.remove();
  for (const group of [...svg.children]) withoutHalfPixel(group);
  for (const element of [svg, ...svg.querySelectorAll("*")]) {
    for (const name of GEOMETRY) {
      const value = element.getAttribute(name);
      if (value?.includes(".")) element.setAttribute(name, rounded(value));
    }
  }
}

/** Only whole moves are asked for here, so that a half is always Plot's. @param {Element} group */
function withoutHalfPixel(group) {
  const found = /^translate\(([^,]+),([^,]+)\)$/.exec(group.getAttribute("transform") ?? "");
  if (!found) return;
  const [x, y] = [Math.floor(Number(found[1])), Math.floor(Number(found[2]))];
  if (x || y) group.setAttribute("transform", `translate(${x},${y})`);
  else group.removeAttribute("transform");
}

/** @param {string} value */
function rounded(value) {
  return value.replace(/-?\d*\.\d+(e[+-]?\d+)?/gi, (digits) => String(Math.round(Number(digits) * 100) / 100 + 0));
}

/**
 * `element` as HTML, as a browser's `outerHTML` writes it but with its attributes in order of name.
 * @param {Element} element
 * @returns {string}
 */
export function serialize(element) {
  const name = element.localName; // `tagName` is in capitals in one document and not in another.
  const attributes = [...element.attributes]
    .map(({ name: key, value }) => ` ${key}="${escapeAttribute(value)}"`)
    .sort();
  const children = [...element.childNodes].map((node) =>
    node.nodeType === 1 ? serialize(/** @type {Element} */ (node)) : escapeText(node.textContent ?? ""),
  );
  return `<${name}${attributes.join("")}>${children.join("")}</${name}>`;
}

/** @param {string} text */
function escapeText(text) {
  return text.replace(/&/g, "&amp;").replace(/\u00a0/g, "&nbsp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

/** @param {string} text */
function escapeAttribute(text) {
  return escapeText(text).replace(/"/g, "&quot;");
}
