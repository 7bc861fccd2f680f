/** Say things to screen readers: politely, and the last of a quick series only. */

const PAUSE = 500;

/** A region of `owner` that is read out. @param {Element} owner */
export function announcer(owner) {
  const region = document.createElement("p");
  region.className = "sr-only";
  region.setAttribute("role", "status");
  owner.append(region);
  let timer = 0;
  return (/** @type {string} */ text) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      region.textContent = text;
    }, PAUSE);
  };
}
