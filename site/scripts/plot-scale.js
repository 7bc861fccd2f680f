/** Axes of a plot: what they span, where their ticks are, and how a tick is written. */

/** @typedef {"linear" | "log" | "band"} AxisKind */
/** @typedef {{label?: string, type?: AxisKind, domain?: [number, number]}} AxisSpec */
/** @typedef {{type: AxisKind, domain: any[], ticks: any[], label: string}} Axis */

const KINDS = ["linear", "log", "band"];
const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const MINUS = "−";
const THIN_SPACE = "\u202f";
/** Of a span to its ends: ticks are written with twelve digits. */
const LEGIBLE = 1e-9;
/** Below it a double has not all of its digits. */
const TINIEST = 1e-300;

/**
 * The axis for these points. A linear domain that is not given is rounded out to whole ticks.
 * @param {AxisSpec} spec
 * @param {any[][][]} series the points of each series
 * @param {0 | 1} index which of a point's values this axis shows
 * @param {number} count about how many ticks there is room for
 * @returns {Axis}
 */
export function axisOf({ label = "", type = "linear", domain }, series, index, count) {
  if (!KINDS.includes(type)) throw new Error(`axis type '${type}' is not one of ${KINDS.join(", ")}`);
  if (type === "band") {
    const names = [...new Set(series.flatMap((points) => points.map((point) => String(point[index]))))];
    return { type, domain: names, ticks: names, label };
  }
  const ends = domain ?? span(series, index, type);
  if (type === "log") return { type, ...logSpan(ends ?? [1, 10]), label };
  const [low, high] = domain ?? widened(ends ?? [0, 1]);
  const step = tickStep(low, high, count);
  const rounded = domain ?? [floorTo(low, step), ceilTo(high, step)];
  return { type, domain: [...rounded], ticks: multiples(rounded[0], rounded[1], step), label };
}

/** @param {AxisKind} type @param {number} value */
function isOn(type, value) {
  return Number.isFinite(value) && (type !== "log" || value > 0);
}

/**
 * Whether the axis has a place for this value.
 * @param {Axis} axis @param {any} value
 */
export function contains({ type, domain }, value) {
  if (type === "band") return domain.includes(String(value));
  return typeof value === "number" && isOn(type, value) && value >= domain[0] && value <= domain[1];
}

/**
 * @param {any[][][]} series @param {0 | 1} index @param {AxisKind} type
 * @returns {[number, number] | undefined}
 */
function span(series, index, type) {
  let [low, high] = [Infinity, -Infinity];
  for (const points of series) {
    for (const point of points) {
      const value = point[index];
      if (typeof value !== "number" || !isOn(type, value)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return low <= high ? [low, high] : undefined;
}

/** A single value, or values that no tick could tell apart, get room on both sides. @param {[number, number]} ends @returns {[number, number]} */
function widened([low, high]) {
  if (high - low > LEGIBLE * Math.max(Math.abs(low), Math.abs(high), TINIEST)) return [low, high];
  const room = Math.abs(low) / 2 > TINIEST ? Math.abs(low) / 2 : 1;
  return [low - room, high + room];
}

/** @param {[number, number]} ends */
function logSpan([low, high]) {
  const first = Math.floor(Math.log10(low) + 1e-9);
  const last = Math.max(first + 1, Math.ceil(Math.log10(high) - 1e-9));
  const every = Math.max(1, Math.ceil((last - first) / 6));
  const ticks = [];
  for (let power = first; power <= last; power += every) ticks.push(powerOfTen(power));
  return { domain: [powerOfTen(first), powerOfTen(last)], ticks };
}

/** The exact double for a decimal power, which `10 ** power` is not in every engine. @param {number} power */
function powerOfTen(power) {
  return Number(`1e${power}`);
}

/**
 * 1, 2 or 5 times a power of ten that cuts the span into about `count` pieces.
 * @param {number} low @param {number} high @param {number} count
 */
function tickStep(low, high, count) {
  const rough = (high - low) / Math.max(1, count);
  const power = Math.floor(Math.log10(rough));
  const unit = powerOfTen(power);
  const factor = [1, 2, 5, 10].find((candidate) => candidate * unit >= rough * 0.999) ?? 10;
  return factor === 10 ? powerOfTen(power + 1) : Number(`${factor}e${power}`);
}

/** @param {number} value @param {number} step */
function floorTo(value, step) {
  return tidy(Math.floor(value / step + 1e-9) * step);
}

/** @param {number} value @param {number} step */
function ceilTo(value, step) {
  return tidy(Math.ceil(value / step - 1e-9) * step);
}

/** @param {number} low @param {number} high @param {number} step */
function multiples(low, high, step) {
  const found = [];
  const first = Math.ceil(low / step - 1e-9);
  // Counted from the first: a large index and one more may be the same double.
  for (let at = 0; at <= (high - low) / step + 1 && (first + at) * step <= high + step * 1e-9; at += 1) {
    found.push(tidy((first + at) * step));
  }
  return found;
}

/** Without the last bits of a multiplication: 0.30000000000000004 is 0.3. @param {number} value */
function tidy(value) {
  return Number(value.toPrecision(12)) + 0;
}

/**
 * A tick as text: `0.25`, `20 000`, `6×10⁻⁴`, `10⁻³`.
 * @param {any} value
 * @returns {string}
 */
export function tickText(value) {
  if (typeof value !== "number") return String(value);
  const size = Math.abs(value);
  const sign = value < 0 ? MINUS : "";
  if (size === 0 || (size >= 1e-3 && size < 1e6)) return sign + plain(tidy(size));
  const [mantissa, exponent] = tidy(size).toExponential().split("e");
  const power = `10${superscript(Number(exponent))}`;
  return sign + (mantissa === "1" ? power : `${mantissa}×${power}`);
}

/** @param {number} size */
function plain(size) {
  const [whole, fraction] = String(size).split(".");
  const grouped = size < 1e4 ? whole : whole.replace(/\B(?=(\d{3})+$)/g, THIN_SPACE);
  return fraction ? `${grouped}.${fraction}` : grouped;
}

/** @param {number} power */
function superscript(power) {
  const digits = [...String(Math.abs(power))].map((digit) => SUPERSCRIPTS[Number(digit)]);
  return (power < 0 ? "⁻" : "") + digits.join("");
}
