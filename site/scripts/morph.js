/**
 * Make a piece of the page equal to new HTML by changing only what differs, so that focus, scroll
 * positions and opened details outlive a new result.
 */

/** @param {Element} element @param {Element} wanted */
function morphAttributes(element, wanted) {
  for (const { name } of [...element.attributes]) {
    const isReaders = name === "open" && element.localName === "details";
    if (!wanted.hasAttribute(name) && !isReaders) element.removeAttribute(name);
  }
  for (const { name, value } of wanted.attributes) {
    if (element.getAttribute(name) !== value) element.setAttribute(name, value);
  }
}

/**
 * @param {ParentNode & Node} parent @param {ParentNode & Node} wanted
 * @param {(element: Element) => boolean} isKept children of such an element are left alone
 */
export function morph(parent, wanted, isKept) {
  const targets = [...wanted.childNodes];
  targets.forEach((target, at) => {
    const found = parent.childNodes[at];
    if (!found) parent.appendChild(target);
    else if (!isAlike(found, target)) parent.replaceChild(target, found);
    else if (found instanceof Element && target instanceof Element) {
      morphAttributes(found, target);
      if (!isKept(found)) morph(found, target, isKept);
    } else if (found.nodeValue !== target.nodeValue) {
      found.nodeValue = target.nodeValue;
    }
  });
  while (parent.childNodes.length > targets.length) parent.lastChild?.remove();
}

/** @param {Node} found @param {Node} target */
function isAlike(found, target) {
  if (!(found instanceof Element && target instanceof Element)) return found.nodeType === target.nodeType;
  const plots = [found, target].map((element) => element.getAttribute("data-plot"));
  return found.localName === target.localName && plots[0] === plots[1];
}
