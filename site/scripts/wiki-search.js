/** `<wiki-search>`: Ctrl K or / searches this language's pages; the index comes when it is asked. */

import { base, build } from "./environment.js";
import { say } from "./words.js";

const PAUSE = 120;
const MOST = 12;

/** @typedef {{url: string, title: string, excerpt: string}} Hit */

export class WikiSearch extends HTMLElement {
  /** @type {Promise<any> | undefined} */
  #index;
  #asked = 0;
  #timer = 0;

  connectedCallback() {
    this.querySelector("[data-action=open]")?.addEventListener("click", () => this.#open());
    this.#box.addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#search(), PAUSE);
    });
    this.#dialog.addEventListener("keydown", (event) => this.#key(event));
    this.#dialog.addEventListener("click", (event) => {
      if (event.target === this.#dialog || /** @type {Element} */ (event.target).closest("a")) this.#dialog.close();
    });
    document.addEventListener("keydown", (event) => {
      const isTyping = /** @type {Element} */ (event.target).closest?.("input, select, textarea, [contenteditable]");
      const isSlash = event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey;
      const isCtrlK = event.key?.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
      if (!isSlash && !isCtrlK) return;
      event.preventDefault();
      this.#open();
    });
  }

  get #dialog() {
    return /** @type {HTMLDialogElement} */ (this.querySelector("dialog"));
  }

  get #box() {
    return /** @type {HTMLInputElement} */ (this.querySelector("[type=search]"));
  }

  get #list() {
    return /** @type {HTMLElement} */ (this.querySelector("[data-results]"));
  }

  /** @param {string} text */
  #say(text) {
    /** @type {HTMLElement} */ (this.querySelector("[data-status]")).textContent = text;
  }

  #open() {
    if (!this.#dialog.open) this.#dialog.showModal();
    this.#box.select();
    void this.#load().catch(() => {});
  }

  #load() {
    this.#index ??= this.#import();
    this.#index.catch(() => {
      this.#index = undefined;
    });
    return this.#index;
  }

  async #import() {
    const pagefind = await import(`${base}pagefind/${build()}/pagefind.js`);
    await pagefind.options({ baseUrl: new URL(base).pathname, excerptLength: 18 });
    await pagefind.init();
    return pagefind;
  }

  async #search() {
    const query = this.#box.value.trim();
    this.#asked += 1;
    const own = this.#asked;
    if (!query) return this.#show("", []);
    try {
      const pagefind = await this.#load();
      const { results } = await pagefind.search(query);
      const pages = await Promise.all(results.slice(0, MOST).map((/** @type {any} */ result) => result.data()));
      if (own !== this.#asked) return;
      this.#show(query, pages.flatMap(hitsOf).slice(0, MOST));
    } catch {
      if (own === this.#asked) this.#say(say("search_unavailable"));
    }
  }

  /** @param {string} query @param {(Hit & {page: string})[]} hits */
  #show(query, hits) {
    // New results take the place of those the reader walks through: the box gets the focus back.
    if (this.#list.contains(document.activeElement)) this.#box.focus();
    this.#list.replaceChildren(...hits.map(entryOf));
    const count = hits.length;
    if (!query) this.#say("");
    else this.#say(count === 0 ? say("search_none", { query }) : count === 1 ? say("search_one") : say("search_many", { count }));
  }

  /** Arrows walk from the box through the results. @param {KeyboardEvent} event */
  #key(event) {
    if (event.isComposing || event.keyCode === 229) return; // These keys are the input method's.
    const links = [...this.#list.querySelectorAll("a")];
    const at = links.indexOf(/** @type {HTMLAnchorElement} */ (document.activeElement));
    if (event.key === "Escape") {
      event.preventDefault(); // A search box would only empty itself.
      this.#dialog.close();
    } else if (event.key === "Enter" && document.activeElement === this.#box) {
      event.preventDefault();
      links[0]?.click();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const next = at + (event.key === "ArrowDown" ? 1 : -1);
      if (next < 0) this.#box.focus();
      else links[Math.min(next, links.length - 1)]?.focus();
    }
  }
}

/** A page's hits by heading; the page itself where the match has none. @param {any} page */
function hitsOf(page) {
  const title = page.meta?.title ?? page.url;
  const hits = page.sub_results?.length ? page.sub_results : [{ url: page.url, title, excerpt: page.excerpt }];
  return hits.slice(0, 3).map((/** @type {Hit} */ hit) => ({ ...hit, page: title }));
}

/** @param {Hit & {page: string}} hit */
function entryOf({ url, title, excerpt, page }) {
  const link = document.createElement("a");
  link.href = url;
  const where = document.createElement("span");
  where.className = "where";
  where.textContent = title === page ? "" : page;
  const text = document.createElement("span");
  text.className = "excerpt";
  // Words and marks only: an excerpt is text, whatever the index holds.
  for (const node of new DOMParser().parseFromString(excerpt, "text/html").body.childNodes) {
    const part = node.nodeName === "MARK" ? document.createElement("mark") : document.createElement("span");
    part.textContent = node.textContent;
    text.append(part);
  }
  link.append(title, where, text);
  const item = document.createElement("li");
  item.append(link);
  return item;
}
