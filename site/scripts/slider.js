/** A slider and the number box beside it: the box holds the value, the slider follows and leads. */

const STEPS = 1000;

/** A logarithmic slider moves over 0..1000; its own bounds are kept aside. @param {HTMLInputElement} slider */
export function linkSlider(slider) {
  if (!("logarithmic" in slider.dataset) || slider.dataset["low"]) return;
  slider.dataset["low"] = slider.min;
  slider.dataset["high"] = slider.max;
  const value = partner(slider)?.value ?? slider.value;
  slider.min = "0";
  slider.max = String(STEPS);
  slider.step = "1";
  place(slider, value);
}

/** The other element of the pair. @param {HTMLElement} element @returns {HTMLInputElement | null} */
function partner(element) {
  const part = element.dataset["part"] === "slider" ? "box" : "slider";
  return element.parentElement?.querySelector(`:scope > [data-part=${part}]`) ?? null;
}

/** @param {HTMLInputElement} slider @param {string} value */
function place(slider, value) {
  const low = Number(slider.dataset["low"]);
  const high = Number(slider.dataset["high"]);
  const at = slider.dataset["low"]
    ? (STEPS * Math.log(Math.max(Number(value), low) / low)) / Math.log(high / low)
    : Number(value);
  slider.value = String(at);
  slider.setAttribute("aria-valuetext", value);
}

/** After the box has changed. @param {HTMLElement} box */
export function setSlider(box) {
  const slider = box.dataset["part"] === "box" ? partner(box) : null;
  const value = /** @type {HTMLInputElement} */ (box).value;
  if (slider && value !== "" && Number.isFinite(Number(value))) place(slider, value);
}

/** After the slider has changed: the box takes its value, to three digits where the scale is logarithmic. @param {HTMLInputElement} slider */
export function leadBox(slider) {
  const box = partner(slider);
  if (!box) return;
  const low = Number(slider.dataset["low"]);
  const high = Number(slider.dataset["high"]);
  const position = Number(slider.value) / STEPS;
  const value = slider.dataset["low"]
    ? String(Number((low * (high / low) ** position).toPrecision(3)))
    : slider.value;
  box.value = value;
  slider.setAttribute("aria-valuetext", value);
}
