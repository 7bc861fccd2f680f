/**
 * Runtime files: fetched once each, counted in bytes, checked against the manifest's SHA-256.
 *
 * A host that compresses on the way is used as it is. Where it does not, the compressed copy
 * beside the file is fetched and unpacked here, which makes the download three times smaller.
 */

import { REASONS } from "./constants.js";

/** @typedef {{path: string, sha256: string, bytes: number, variants: Record<string, number>}} RuntimeFile */
/** @typedef {{core: Record<string, RuntimeFile>, wheel: string, bundles: Record<string, RuntimeFile>, data: Record<string, RuntimeFile & {at: string}>, key: string}} Manifest */
/** @typedef {{response: Promise<Response>, bytes: Promise<Uint8Array<ArrayBuffer>>}} Download */

/** A start that cannot go on, and why (a key of REASONS). */
export class StartError extends Error {
  /** @param {string} reason @param {string} detail */
  constructor(reason, detail) {
    super(detail);
    this.reason = reason;
  }
}

/** @param {Uint8Array<ArrayBuffer>} bytes */
export async function sha256(bytes) {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * The network itself: while Pyodide starts, this worker's `fetch` answers with what is downloaded
 * here, and a download that asked it would wait for itself.
 */
const fetchFile = self.fetch.bind(self);

/** Variants in the order of their size, with the name that DecompressionStream has for them. */
const FORMATS = Object.freeze([["br", "brotli"], ["gz", "gzip"]]);

/** @param {string} format */
function decompressor(format) {
  try {
    return new DecompressionStream(/** @type {CompressionFormat} */ (format));
  } catch {
    return undefined;
  }
}

/** All downloads of one start; `report(loaded, total)` is told the bytes as they come. */
export class Downloads {
  /** @type {Map<string, {loaded: number, total: number}>} */
  #counts = new Map();
  /** @type {Set<string>} */
  urls = new Set();

  /** @param {string} base @param {(loaded: number, total: number) => void} report */
  constructor(base, report) {
    this.base = base;
    this.report = report;
  }

  /** @param {string} path @param {number} loaded @param {number} total */
  #count(path, loaded, total) {
    this.#counts.set(path, { loaded, total });
    let sum = 0;
    let all = 0;
    for (const count of this.#counts.values()) {
      sum += count.loaded;
      all += count.total;
    }
    this.report(sum, all);
  }

  /**
   * Start a download and check what comes.
   * @param {RuntimeFile} file
   * @returns {Promise<Uint8Array<ArrayBuffer>>}
   */
  start(file) {
    this.#count(file.path, 0, file.variants["br"] ?? file.bytes);
    const bytes = this.#open(file, false).then(({ copy }) => this.#collect(file, copy));
    bytes.catch(() => {}); // Whoever awaits it is told; nobody else needs to be.
    return bytes;
  }

  /**
   * The same for WebAssembly, which compiles from `response` while the bytes come.
   * @param {RuntimeFile} file
   * @returns {Download}
   */
  stream(file) {
    this.#count(file.path, 0, file.variants["br"] ?? file.bytes);
    const opened = this.#open(file, true);
    const bytes = opened.then(({ copy }) => this.#collect(file, copy));
    const response = opened.then((found) => /** @type {Response} */ (found.response));
    for (const promise of [bytes, response]) promise.catch(() => {});
    return { response, bytes };
  }

  /**
   * @param {RuntimeFile} file @param {boolean} isStreamed
   * @returns {Promise<{copy: ReadableStream<Uint8Array<ArrayBuffer>>, response?: Response}>}
   */
  async #open(file, isStreamed) {
    const url = this.base + file.path;
    const variants = (await this.#isCompressedOnTheWay(file, url)) ? [] : FORMATS;
    for (const [suffix = "", format = ""] of variants) {
      const size = file.variants[suffix];
      const unpack = size ? decompressor(format) : undefined;
      const packed = unpack && size ? await this.#get(`${url}.${suffix}`) : undefined;
      if (!packed || !unpack || !size) continue;
      // Some hosts take the suffix for an encoding and have the browser unpack it.
      const isUnpacked = Boolean(packed.headers.get("content-encoding"));
      const stream = this.#counted(packed, file, isUnpacked ? file.bytes : size, size);
      const unpacked = isUnpacked ? stream : stream.pipeThrough(unpack);
      if (!isStreamed) return { copy: unpacked };
      const [first, copy] = unpacked.tee();
      const headers = { "content-type": "application/wasm" };
      return { response: new Response(first, { headers }), copy };
    }
    const plain = await this.#get(url);
    if (!plain) throw new StartError(REASONS.file, file.path);
    const isEncoded = plain.headers.get("content-encoding");
    const total = (isEncoded && Number(plain.headers.get("content-length"))) || file.bytes;
    const copy = this.#counted(isStreamed ? plain.clone() : plain, file, file.bytes, total);
    return isStreamed ? { response: plain, copy } : { copy };
  }

  /** @param {RuntimeFile} file @param {string} url */
  async #isCompressedOnTheWay(file, url) {
    if (Object.keys(file.variants).length === 0) return true;
    try {
      return (await fetchFile(url, { method: "HEAD" })).headers.has("content-encoding");
    } catch {
      return false;
    }
  }

  /** @param {string} url */
  async #get(url) {
    try {
      const response = await fetchFile(url);
      if (!response.ok || !response.body) return undefined;
      this.urls.add(url);
      return response;
    } catch {
      return undefined;
    }
  }

  /**
   * The body of `response`, counting as it passes: `expected` bytes will come, and they stand for
   * `total` bytes on the wire.
   * @param {Response} response @param {RuntimeFile} file
   * @param {number} expected @param {number} total
   * @returns {ReadableStream<Uint8Array<ArrayBuffer>>}
   */
  #counted(response, file, expected, total) {
    let seen = 0;
    const wire = total || file.variants["br"] || file.bytes;
    const counter = new TransformStream({
      transform: (/** @type {Uint8Array<ArrayBuffer>} */ chunk, controller) => {
        seen += chunk.length;
        this.#count(file.path, Math.round(wire * Math.min(1, seen / expected)), wire);
        controller.enqueue(chunk);
      },
    });
    const body = /** @type {ReadableStream<Uint8Array<ArrayBuffer>>} */ (response.body);
    return body.pipeThrough(counter);
  }

  /** @param {RuntimeFile} file @param {ReadableStream<Uint8Array<ArrayBuffer>>} stream */
  async #collect(file, stream) {
    let bytes;
    try {
      bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    } catch {
      throw new StartError(REASONS.file, file.path);
    }
    if ((await sha256(bytes)) !== file.sha256) throw new StartError(REASONS.hash, file.path);
    return bytes;
  }
}
