/** Storage of a browser that is full: whatever is kept there is told apart from other failures. */

/** @param {unknown} error */
export function isFull(error) {
  return error instanceof Error && error.name === "QuotaExceededError";
}

/**
 * Whether there was room for what `action` keeps. A store that fails otherwise (none in a private
 * window, say) is done without: more room would not help it.
 * @param {() => Promise<unknown>} action
 */
export async function hasRoomFor(action) {
  try {
    await action();
  } catch (error) {
    return !isFull(error);
  }
  return true;
}
