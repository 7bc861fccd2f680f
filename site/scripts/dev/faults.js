/** What the site's scripts throw: the server knows the line that it comes from. */

/** @param {unknown} error */
export function tellFault(error) {
  if (error instanceof Error) send(`${error.name}: ${error.message}`, error.stack ?? "");
}

/** A worker's error, of which the page is told only the place. @param {ErrorEvent} event */
export function tellWorkerFault({ message, filename, lineno, colno }) {
  send(message.replace(/^Uncaught /, ""), `${filename}:${lineno}:${colno}`);
}

/** @param {string} message @param {string} stack */
function send(message, stack) {
  void fetch("/-/thrown", { method: "POST", body: JSON.stringify({ message, stack }) }).catch(() => {});
}
