/** Zip archives, as far as a Python wheel needs: central directory, stored and deflated entries. */

const END = 0x06054b50;
const END_SIZE = 22;
const DEFLATED = 8;

/** @param {Uint8Array<ArrayBuffer>} bytes */
async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** @param {DataView} view */
function findEnd(view) {
  for (let at = view.byteLength - END_SIZE; at >= 0; at -= 1) {
    if (view.getUint32(at, true) === END) return at;
  }
  throw new RangeError("not a zip archive: it has no end record");
}

/**
 * The entries of an archive that `wanted` accepts; a stored entry is a view into `bytes`.
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @param {(name: string) => boolean} wanted
 * @returns {Promise<[string, Uint8Array<ArrayBuffer>][]>}
 */
export async function entries(bytes, wanted) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = new TextDecoder();
  const end = findEnd(view);
  const count = view.getUint16(end + 10, true);
  let at = view.getUint32(end + 16, true);
  /** @type {[string, Uint8Array<ArrayBuffer>][]} */
  const found = [];
  for (let i = 0; i < count; i += 1) {
    const size = view.getUint32(at + 20, true);
    const nameLength = view.getUint16(at + 28, true);
    const name = text.decode(bytes.subarray(at + 46, at + 46 + nameLength));
    if (wanted(name)) {
      const local = view.getUint32(at + 42, true);
      const skip = view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
      const body = bytes.subarray(local + 30 + skip, local + 30 + skip + size);
      const isDeflated = view.getUint16(at + 10, true) === DEFLATED;
      found.push([name, isDeflated ? await inflate(body) : body]);
    }
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return found;
}
