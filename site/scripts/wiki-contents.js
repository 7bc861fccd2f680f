/**
 * `<wiki-contents>`: the list of this page's headings marks the one being read, and steps aside
 * while something wide, such as a calculator, lies over the margin it stands in.
 */

const WIDE = "wiki-calculator, .wide, .sidenote, .prose > pre";
/** How far down the window, in parts of it, a heading is taken to be the one being read. */
const READING_LINE = 0.3;

export class WikiContents extends HTMLElement {
  #isAsked = false;
  #look = () => {
    if (this.#isAsked) return;
    this.#isAsked = true;
    requestAnimationFrame(() => {
      this.#isAsked = false;
      this.#show();
    });
  };

  connectedCallback() {
    addEventListener("scroll", this.#look, { passive: true });
    addEventListener("resize", this.#look, { passive: true });
    this.#look();
  }

  disconnectedCallback() {
    removeEventListener("scroll", this.#look);
    removeEventListener("resize", this.#look);
  }

  #show() {
    const list = this.querySelector("ol");
    if (!list || this.offsetParent === null) return;
    const links = [...list.querySelectorAll("a")];
    const current = links.findLast((link) => isAbove(headingOf(link)));
    for (const link of links) {
      if (link === current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    this.toggleAttribute("data-covered", isCovered(list));
  }
}

/** @param {HTMLAnchorElement} link */
function headingOf(link) {
  return document.getElementById(decodeURIComponent(link.hash.slice(1)));
}

/** @param {Element | null} heading */
function isAbove(heading) {
  return heading !== null && heading.getBoundingClientRect().top < innerHeight * READING_LINE;
}

/** @param {Element} list */
function isCovered(list) {
  const own = list.getBoundingClientRect();
  return [...document.querySelectorAll(WIDE)].some((element) => {
    const other = element.getBoundingClientRect();
    return other.right > own.left && other.top < own.bottom && other.bottom > own.top;
  });
}
