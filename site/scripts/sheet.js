/** The chapters on a phone are a sheet over the page: it goes when a heading of this page is chosen. */

const HEADING = 'a[href^="#"]';

export function closeSheetOnArrival() {
  const sheet = document.getElementById("chapters");
  sheet?.addEventListener("click", (event) => {
    if (/** @type {Element} */ (event.target).closest(HEADING)) sheet.hidePopover();
  });
}
