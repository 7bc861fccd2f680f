/** Series of a plot: how each role looks, and the marks of Observable Plot that draw it. */

import * as Plot from "@observablehq/plot";

import { contains } from "./plot-scale.js";

/** @typedef {import("./plot-scale.js").Axis} Axis */
/** @typedef {"correct" | "implemented" | "neutral" | "accent"} Role */
/** @typedef {{type: string, role?: Role, label?: string, points: any[][]}} MarkSpec */
/** @typedef {{symbol: "circle" | "triangle" | "square" | "diamond", dashes: string[], isHollow: boolean}} Look */
/** @typedef {{type: string, role: Role, label: string, points: any[][], dash: string, look: Look}} Series */
/** @typedef {{x: Axis, y: Axis, columns: number, bandwidth: number}} Frame */

/**
 * Colour is never the only sign: each role has its own marker and its own dashes, and a further
 * series of the same role takes the next dashes. @type {Record<Role, Look>}
 */
const LOOKS = {
  correct: { symbol: "circle", dashes: ["", "12 3", "1 3"], isHollow: false },
  implemented: { symbol: "triangle", dashes: ["6 4", "2 3", "9 3 2 3"], isHollow: true },
  neutral: { symbol: "square", dashes: ["2 3", "9 4", "", "5 2 1 2"], isHollow: true },
  accent: { symbol: "diamond", dashes: ["", "8 3 2 3", "3 3"], isHollow: false },
};

const TYPES = ["line", "step", "dot", "rule", "bar", "area", "text"];

/** A line with few points shows where they are. */
const MAX_MARKED_POINTS = 24;

/** Whether a series shows its marker. @param {Series} series */
export function isMarked({ type, points }) {
  return type === "dot" || ((type === "line" || type === "step") && points.length <= MAX_MARKED_POINTS);
}

/**
 * The series of a spec, checked, each with the dashes that tell it from others of its role.
 * @param {MarkSpec[]} marks
 * @returns {Series[]}
 */
export function seriesOf(marks) {
  /** @type {Map<string, number>} */
  const seen = new Map();
  return marks.map(({ type, role = "neutral", label = "", points }) => {
    const look = LOOKS[role];
    if (!look) throw new Error(`role '${role}' is not one of ${Object.keys(LOOKS).join(", ")}`);
    if (!TYPES.includes(type)) throw new Error(`mark type '${type}' is not one of ${TYPES.join(", ")}`);
    const before = seen.get(role) ?? 0;
    if (type === "line" || type === "step") seen.set(role, before + 1);
    return { type, role, label, points, look, dash: look.dashes[before % look.dashes.length] };
  });
}

/**
 * What draws one series, in order.
 * @param {Series} series
 * @param {Frame} frame
 * @param {{index: number, count: number}} bars this series' place among the bars of a band
 * @returns {any[]}
 */
export function marksOf(series, frame, bars) {
  switch (series.type) {
    case "line":
    case "step":
      return lineMarks(series, frame);
    case "area":
      return [areaMark(series, frame)];
    case "bar":
      return [barMark(series, frame, bars)];
    case "rule":
      return series.points.map((point) => ruleMark(series, frame, point));
    case "text":
      return [textMark(series, frame)];
    default:
      return [dotMark(series, frame)];
  }
}

/** @param {Series} series @param {string} kind */
function classOf({ role }, kind) {
  return `mark-${kind} role-${role}`;
}

/** @param {any[]} point @param {Frame} frame */
function isInside([x, y], frame) {
  return contains(frame.x, x) && contains(frame.y, y);
}

/** A band axis knows its places by their text. @param {Axis} axis @param {number} index */
function channel({ type }, index) {
  return (/** @type {any[]} */ point) => (type === "band" ? String(point[index]) : point[index]);
}

/** @param {Frame} frame */
function position(frame) {
  return { x: channel(frame.x, 0), y: channel(frame.y, 1) };
}

/** @param {Series} series @param {Frame} frame */
function lineMarks(series, frame) {
  const isStep = series.type === "step";
  // A point off the axes leaves a gap: a line must not join what is on either side of it.
  const points = thin(series.points, frame).map((point) => (isInside(point, frame) ? point : [point[0], NaN]));
  const line = Plot.line(points, {
    ...position(frame),
    className: classOf(series, series.type),
    stroke: "currentColor",
    strokeWidth: 2,
    curve: isStep ? "step-after" : "linear",
    ...(series.dash ? { strokeDasharray: series.dash } : {}),
  });
  return isMarked(series) ? [line, dotMark(series, frame, 3)] : [line];
}

/** @param {Series} series @param {Frame} frame @param {number} [r] */
function dotMark(series, frame, r = 5) {
  return Plot.dot(series.points.filter((point) => isInside(point, frame)), {
    ...position(frame),
    className: `${classOf(series, "dot")}${series.look.isHollow ? " is-hollow" : ""}`,
    symbol: series.look.symbol,
    r,
    fill: series.look.isHollow ? "none" : "currentColor",
    stroke: "currentColor",
  });
}

/** @param {Series} series @param {Frame} frame */
function areaMark(series, frame) {
  const points = thin(series.points, frame);
  const floor = Math.max(0, frame.y.domain[0]);
  return Plot.areaY(points, {
    x: channel(frame.x, 0),
    y1: (/** @type {any[]} */ point) => (point.length > 2 ? point[1] : floor),
    y2: (/** @type {any[]} */ point) => point[point.length - 1],
    className: classOf(series, "area"),
    fill: "currentColor",
    fillOpacity: 0.16,
  });
}

/**
 * @param {Series} series @param {Frame} frame
 * @param {{index: number, count: number}} place
 */
function barMark(series, frame, { index, count }) {
  const points = series.points.filter((point) => isInside(point, frame));
  const common = {
    x: channel(frame.x, 0),
    className: `${classOf(series, "bar")}${series.look.isHollow ? " is-hollow" : ""}`,
    stroke: "currentColor",
  };
  const base = Math.min(Math.max(0, frame.y.domain[0]), frame.y.domain[1]);
  const ends = { y1: base, y2: channel(frame.y, 1) };
  if (frame.x.type !== "band") return Plot.ruleX(points, { ...common, ...ends, strokeWidth: 4 });
  const share = frame.bandwidth / count;
  return Plot.barY(points, {
    ...common,
    ...ends,
    fill: series.look.isHollow ? "none" : "currentColor",
    insetLeft: share * index + 1,
    insetRight: share * (count - 1 - index) + 1,
  });
}

/**
 * A point [null, y] is a line across the plot, [x, null] one up it, [x, y] a stem from zero.
 * @param {Series} series @param {Frame} frame @param {any[]} point
 */
function ruleMark(series, frame, [x, y]) {
  const options = { className: classOf(series, "rule"), stroke: "currentColor", strokeWidth: 1.5,
    ...(series.dash ? { strokeDasharray: series.dash } : {}) };
  if (x === null || x === undefined) return Plot.ruleY(contains(frame.y, y) ? [y] : [], options);
  if (y === null || y === undefined) return Plot.ruleX(contains(frame.x, x) ? [x] : [], options);
  const base = Math.min(Math.max(0, frame.y.domain[0]), frame.y.domain[1]);
  const points = isInside([x, y], frame) ? [[x, y]] : [];
  return Plot.ruleX(points, { ...options, x: channel(frame.x, 0), y1: base, y2: channel(frame.y, 1) });
}

/** @param {Series} series @param {Frame} frame */
function textMark(series, frame) {
  return Plot.text(series.points.filter((point) => isInside(point, frame)), {
    ...position(frame),
    text: (/** @type {any[]} */ point) => String(point[2] ?? series.label),
    className: classOf(series, "text"),
    fill: "currentColor",
    dy: -10,
  });
}

/**
 * The points that a screen can show: of those in one column of pixels the first, the lowest, the
 * highest and the last. A line that turns back in x is left as it is.
 * @param {any[][]} points
 * @param {Frame} frame
 */
export function thin(points, { x, columns }) {
  if (points.length <= 4 * columns || x.type === "band" || !isAscending(points)) return points;
  const scale = x.type === "log" ? Math.log : Number;
  const [low, high] = x.domain.map((end) => scale(end));
  const columnOf = (/** @type {any[]} */ point) =>
    Math.floor(((scale(point[0]) - low) / (high - low)) * columns);
  const kept = [];
  let start = 0;
  for (let end = 1; end <= points.length; end += 1) {
    if (end < points.length && columnOf(points[end]) === columnOf(points[start])) continue;
    kept.push(...extremes(points, start, end));
    start = end;
  }
  return kept;
}

/** @param {any[][]} points */
function isAscending(points) {
  return points.every((point, index) => index === 0 || points[index - 1][0] <= point[0]);
}

/** @param {any[][]} points @param {number} start @param {number} end */
function extremes(points, start, end) {
  let [low, high] = [start, start];
  for (let index = start; index < end; index += 1) {
    if (points[index][1] < points[low][1]) low = index;
    if (points[index][1] > points[high][1]) high = index;
  }
  const indices = [...new Set([start, low, high, end - 1])].sort((a, b) => a - b);
  return indices.map((index) => points[index]);
}
