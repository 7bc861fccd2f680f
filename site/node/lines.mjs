/**
 * The loop of both Node programs: one JSON value in, one JSON value out, a line each, in order.
 *
 * An answer is `{"ok": value}` or `{"error": {"message": text, ...}}`. Nothing else may be written to
 * standard output.
 */

import { createInterface } from "node:readline";

/**
 * @param {(request: any) => unknown} answer what `ok` holds for a request; it may throw
 * @param {(error: any) => object} [describe] more fields for `error`
 */
export function serveLines(answer, describe = () => ({})) {
  createInterface({ input: process.stdin, crlfDelay: Infinity }).on("line", (line) => {
    process.stdout.write(JSON.stringify(reply(line, answer, describe)) + "\n");
  });
}

/**
 * @param {string} line
 * @param {(request: any) => unknown} answer
 * @param {(error: any) => object} describe
 */
function reply(line, answer, describe) {
  try {
    return { ok: answer(JSON.parse(line)) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { error: { message, ...describe(error) } };
  }
}
