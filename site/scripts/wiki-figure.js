/** `<wiki-figure>`: a click or Enter opens the drawing large; Escape closes it. */

import { textButton } from "./status.js";
import { say } from "./words.js";

export class WikiFigure extends HTMLElement {
  connectedCallback() {
    const canvas = this.querySelector(".figure-canvas");
    canvas?.classList.add("figure-open");
    canvas?.addEventListener("click", () => this.#open());
    this.querySelector("[data-action=open]")?.addEventListener("click", () => this.#open());
  }

  #open() {
    const dialog = document.createElement("dialog");
    dialog.className = "figure-dialog";
    dialog.setAttribute("aria-label", this.querySelector("figcaption")?.textContent?.trim() ?? "");
    const copy = /** @type {Element} */ (this.querySelector(".figure-canvas svg")?.cloneNode(true));
    // Ids stay unique: the copy's description is the original's.
    for (const element of [copy, ...copy.querySelectorAll("[id]")]) element.removeAttribute("id");
    const size = textButton(say("figure_original"), () => {
      const isOriginal = dialog.dataset["size"] !== "original";
      dialog.dataset["size"] = isOriginal ? "original" : "fit";
      size.textContent = say(isOriginal ? "figure_fit" : "figure_original");
    });
    const bar = document.createElement("div");
    bar.className = "dialog-bar";
    bar.append(size, textButton(say("figure_close"), () => dialog.close()));
    const frame = document.createElement("div");
    frame.className = "figure-frame";
    frame.tabIndex = 0;
    frame.append(copy);
    dialog.append(bar, frame);
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  }
}
