/** What a page says below its text: a line for each matter, there for as long as it is so. */

/** @type {HTMLElement | undefined} */
let box;
/** @type {Map<string, HTMLElement>} */
const lines = new Map();

/** @param {string} matter @param {(string | Node)[]} parts */
export function showNotice(matter, parts) {
  if (lines.has(matter)) return;
  if (!box) {
    box = document.createElement("div");
    box.className = "update-notice";
    box.setAttribute("role", "status");
    document.body.append(box);
  }
  const line = document.createElement("p");
  line.dataset["notice"] = matter;
  line.append(...parts);
  lines.set(matter, line);
  box.append(line);
}

/** @param {string} matter */
export function hideNotice(matter) {
  lines.get(matter)?.remove();
  lines.delete(matter);
  if (lines.size > 0) return;
  box?.remove();
  box = undefined;
}
