/**
 * What the script before the page is shown (theme.js) finds in place of the browser's own while it is
 * edited: it applies the theme and no more. The rest of it runs where it can be replaced (site.js).
 */

export const customElements = { define() {} };

export function addEventListener() {}
