/** `<wiki-term>`: a glossary term shows its definition on hover and focus; Escape hides it. */

const SHOW_AFTER = 150;
const HIDE_AFTER = 200;
const GAP = 6;

let count = 0;

export class WikiTerm extends HTMLElement {
  #timer = 0;
  /** @type {HTMLElement | undefined} */
  #tip;

  connectedCallback() {
    this.addEventListener("pointerenter", () => this.#soon(() => this.#show(), SHOW_AFTER));
    this.addEventListener("pointerleave", () => this.#soon(() => this.#hide(), HIDE_AFTER));
    this.addEventListener("focusin", () => this.#soon(() => this.#show(), 0));
    this.addEventListener("focusout", () => this.#soon(() => this.#hide(), 0));
  }

  /** @param {() => void} action @param {number} after */
  #soon(action, after) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(action, after);
  }

  #make() {
    const tip = document.createElement("span");
    count += 1;
    tip.id = `definition-${count}`;
    tip.className = "term-definition";
    tip.popover = "manual";
    tip.setAttribute("role", "tooltip");
    tip.textContent = this.dataset["definition"] ?? "";
    this.querySelector("a")?.setAttribute("aria-describedby", tip.id);
    this.append(tip);
    return tip;
  }

  #show() {
    const tip = (this.#tip ??= this.#make());
    if (tip.matches(":popover-open")) return;
    tip.showPopover();
    document.addEventListener("keydown", this.#escape, true);
    const term = this.getBoundingClientRect();
    const box = tip.getBoundingClientRect();
    const isBelow = term.bottom + GAP + box.height < innerHeight;
    const left = Math.max(GAP, Math.min(term.left, innerWidth - box.width - GAP));
    const top = isBelow ? term.bottom + GAP : term.top - GAP - box.height;
    Object.assign(tip.style, { inset: "auto", margin: "0", position: "fixed", left: `${left}px`, top: `${Math.max(GAP, top)}px` });
  }

  #hide() {
    if (this.#tip?.matches(":popover-open")) this.#tip.hidePopover();
    document.removeEventListener("keydown", this.#escape, true);
  }

  /** @param {KeyboardEvent} event */
  #escape = (event) => {
    if (event.key !== "Escape") return;
    clearTimeout(this.#timer);
    this.#hide();
  };
}
