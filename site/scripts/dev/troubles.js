/** What is wrong with the build, over the page: file and line, the line itself, and the mend. */

/** @typedef {{file: string, line: number, message: string, source: string}} Trouble */

const SHEET = `
  :host { position: fixed; inset: auto 0 0; z-index: 1000; max-block-size: 40vh; overflow: auto;
    background: var(--wiki-paper, Canvas); color: var(--wiki-ink, CanvasText);
    border-block-start: 3px solid var(--wiki-implemented, Mark); font: 0.85rem/1.5 var(--wiki-sans, sans-serif); }
  summary { padding: 0.5rem 1.25rem; cursor: pointer; font-weight: 600; }
  ol { margin: 0; padding: 0 1.25rem 0.75rem; list-style: none; }
  li + li { margin-block-start: 0.75rem; }
  p { margin: 0; }
  pre { margin: 0.25rem 0 0; overflow-x: auto; font-family: var(--wiki-mono, monospace); }
`;

export class WikiTroubles extends HTMLElement {
  #list = document.createElement("ol");
  #count = document.createElement("summary");

  connectedCallback() {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(SHEET);
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [sheet];
    const details = document.createElement("details");
    details.open = true;
    details.append(this.#count, this.#list);
    root.append(details);
    this.setAttribute("role", "alert");
  }

  /** @param {Trouble[]} troubles */
  show(troubles) {
    // What is wrong with this page comes first.
    const [, , slug = ""] = location.pathname.split("/");
    const isHere = (/** @type {Trouble} */ { file }) => Number(slug !== "" && file.startsWith(`content/${slug}/`));
    const ordered = troubles.toSorted((left, right) => isHere(right) - isHere(left));
    this.#count.textContent = troubles.length === 1 ? "1 error" : `${troubles.length} errors`;
    this.#list.replaceChildren(...ordered.map(item));
  }
}

/** @param {Trouble} trouble */
function item({ file, line, message, source }) {
  const made = document.createElement("li");
  const place = document.createElement("strong");
  place.textContent = `${file}:${line}`;
  const text = document.createElement("p");
  text.append(place, ` ${message}`);
  made.append(text);
  if (source) {
    const code = document.createElement("pre");
    code.textContent = `${line} | ${source}`;
    made.append(code);
  }
  return made;
}

customElements.define("wiki-troubles", WikiTroubles);

/** @type {WikiTroubles | undefined} */
let panel;

/** @param {Trouble[]} troubles none: the panel goes away */
export function showTroubles(troubles) {
  if (troubles.length === 0) {
    panel?.remove();
    panel = undefined;
    return;
  }
  if (!panel) {
    panel = new WikiTroubles();
    // Beside the body, whose parts are compared with the page that the server sent.
    document.documentElement.append(panel);
  }
  panel.show(troubles);
}
