/** Paths inside the site, as the build's manifest lists them. */

/** Folders whose file names hold a hash, of the content or of the build. */
const HASHED = /^(assets|runtime|pagefind|grids)\//;

/** @param {string} path */
export function isHashed(path) {
  return HASHED.test(path);
}

/** The path of an address below the site's root, without query and fragment. @param {string} url @param {string} root */
export function pathOf(url, root) {
  const { origin, pathname } = new URL(url);
  const path = (origin + pathname).slice(root.length);
  try {
    return decodeURIComponent(path).replace(/(^|\/)index\.html$/, "$1");
  } catch {
    return path; // A stray % in it: no file of the site.
  }
}

/** The file that stands for a path: a folder's is its index.html. @param {string} path */
export function toFile(path) {
  return path === "" || path.endsWith("/") ? `${path}index.html` : path;
}
