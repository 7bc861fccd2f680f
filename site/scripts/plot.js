/**
 * Plots: one module draws them at build time (Node, linkedom) and in the page.
 *
 * A plot is data: axes, and series that have a role (correct, implemented, neutral, accent) instead
 * of a colour. The stylesheet gives each role its colour; its dashes and marker are given here. Axis
 * labels and legend are HTML, so that their size does not shrink with the drawing on a phone.
 */

import * as Plot from "@observablehq/plot";

import { isMarked, marksOf, seriesOf } from "./plot-marks.js";
import { serialize, settle } from "./plot-markup.js";
import { axisOf, tickText } from "./plot-scale.js";

/** @typedef {import("./plot-scale.js").AxisSpec} AxisSpec */
/** @typedef {import("./plot-scale.js").Axis} Axis */
/** @typedef {import("./plot-marks.js").Series} Series */
/** @typedef {import("./plot-marks.js").MarkSpec} MarkSpec */
/** @typedef {{key?: string, title?: string, alt?: string, x?: AxisSpec, y?: AxisSpec, height?: number, marks: MarkSpec[]}} PlotSpec */

const SVG = "http://www.w3.org/2000/svg";

/** Units of the drawing. At 328 pixels of width a letter of 13 units is 10 pixels high. */
const WIDTH = 420;
const FONT_SIZE = 13;
const DIGIT_WIDTH = 7.4;
const MARGIN = { top: 12, bottom: 28 };

/**
 * The plot as markup: equal bytes for equal specs, built and live.
 * @param {PlotSpec} spec @param {Document} document
 */
export function plotMarkup(spec, document) {
  return serialize(drawPlot(spec, document));
}

/**
 * The plot as an element of `document`: label of the y axis, drawing, label of the x axis, legend.
 * @param {PlotSpec} spec
 * @param {Document} document
 * @returns {HTMLElement}
 */
export function drawPlot(spec, document) {
  const series = seriesOf(spec.marks);
  const frame = document.createElement("div");
  frame.className = "plot";
  const svg = drawing(spec, series, document);
  frame.append(
    ...labelOf(spec.y, "plot-label plot-label-y", document),
    svg,
    ...labelOf(spec.x, "plot-label plot-label-x", document),
    ...legendOf(series, document),
  );
  return frame;
}

/** @param {PlotSpec} spec @param {Series[]} series @param {Document} document */
function drawing(spec, series, document) {
  const height = spec.height ?? 240;
  const points = series.map((item) => item.points);
  // Bars and areas stand on zero, which the axis then has to show.
  const ground = series.some(({ type }) => type === "bar" || type === "area") ? [[[null, 0]]] : [];
  const x = axisOf(spec.x ?? {}, points, 0, 5);
  const y = axisOf(spec.y ?? {}, [...points, ...ground], 1, Math.max(2, Math.round(height / 55)));
  const marginLeft = Math.ceil(Math.max(...y.ticks.map(labelWidth))) + 12;
  const marginRight = Math.ceil(x.type === "band" ? 0 : labelWidth(x.ticks[x.ticks.length - 1]) / 2) + 6;
  const svg = Plot.plot({
    document,
    className: "plot-svg",
    width: WIDTH,
    height,
    marginTop: MARGIN.top,
    marginRight,
    marginBottom: MARGIN.bottom,
    marginLeft,
    x: { ...scaleOf(x), ...(x.type === "band" ? { padding: 0.2 } : {}) },
    y: scaleOf(y),
    marks: [...axisMarks(x, y), ...drawn(series, x, y, WIDTH - marginRight - marginLeft)],
  });
  settle(svg);
  for (const name of ["width", "height", "font-family"]) svg.removeAttribute(name);
  svg.setAttribute("font-size", String(FONT_SIZE));
  svg.setAttribute("aria-hidden", "true"); // The canvas around it carries the words.
  return svg;
}

/** @param {Axis} axis */
function scaleOf({ type, domain }) {
  return { type, domain, label: null, axis: null };
}

/** About how wide a tick's label is. @param {any} tick */
function labelWidth(tick) {
  return [...tickText(tick)].length * DIGIT_WIDTH;
}

/** @param {Axis} x @param {Axis} y */
function axisMarks(x, y) {
  const tick = { tickFormat: tickText, tickSize: 4, fontVariant: "tabular-nums", label: null };
  const hasZero = y.type === "linear" && y.domain[0] <= 0 && y.domain[1] >= 0;
  return [
    Plot.gridY({ ticks: y.ticks, className: "plot-grid" }),
    Plot.axisY({ ...tick, ticks: y.ticks, tickSize: 0 }),
    Plot.axisX({ ...tick, ticks: legible(x) }),
    hasZero ? Plot.ruleY([0], { className: "plot-zero" }) : null,
  ];
}

/**
 * The names of bars if they fit side by side, else none: names over names tell nothing, and the
 * data table below the plot has them all.
 * @param {Axis} axis
 */
function legible({ type, ticks }) {
  const widest = Math.max(0, ...ticks.map(labelWidth)) + DIGIT_WIDTH;
  return type === "band" && widest * ticks.length > WIDTH ? [] : ticks;
}

/** @param {Series[]} series @param {Axis} x @param {Axis} y @param {number} columns */
function drawn(series, x, y, columns) {
  const step = columns / (x.domain.length + 0.2);
  const frame = { x, y, columns, bandwidth: x.type === "band" ? Math.floor(step) * 0.8 : 0 };
  const bars = series.filter(({ type }) => type === "bar");
  return series.map((item) => marksOf(item, frame, { index: bars.indexOf(item), count: bars.length }));
}

/** @param {AxisSpec | undefined} axis @param {string} className @param {Document} document */
function labelOf(axis, className, document) {
  if (!axis?.label) return [];
  const element = document.createElement("p");
  element.className = className;
  element.textContent = axis.label;
  return [element];
}

/** One entry for each label, when there is more than one. @param {Series[]} series @param {Document} document */
function legendOf(series, document) {
  const named = series.filter(({ label, type }) => label && type !== "text");
  const entries = [...new Map(named.map((item) => [item.label, item])).values()];
  if (entries.length < 2) return [];
  const list = document.createElement("ul");
  list.className = "plot-legend";
  for (const item of entries) {
    const entry = document.createElement("li");
    const text = document.createElement("span");
    text.textContent = item.label;
    entry.className = `role-${item.role}`;
    entry.append(swatch(item, document), text);
    list.append(entry);
  }
  return [list];
}

/** What a series looks like, small. @param {Series} series @param {Document} document */
function swatch(series, document) {
  const { type, dash, look } = series;
  const svg = shape(document, "svg", { class: "plot-swatch", viewBox: "0 0 36 12", width: "36", height: "12" });
  svg.setAttribute("aria-hidden", "true");
  const fill = look.isHollow ? "none" : "currentColor";
  if (type === "bar" || type === "area") {
    const paint = type === "area" ? { fill: "currentColor", "fill-opacity": "0.3" } : { fill, stroke: "currentColor" };
    svg.append(shape(document, "path", { d: "M10,1L26,1L26,11L10,11Z", ...paint }));
  } else if (type !== "dot") {
    const stroke = { stroke: "currentColor", "stroke-width": "2", "stroke-dasharray": dash || undefined };
    svg.append(shape(document, "path", { d: "M0,6L36,6", ...stroke }));
  }
  if (isMarked(series)) {
    svg.append(shape(document, "path", { d: SYMBOLS[look.symbol], fill, stroke: "currentColor" }));
  }
  return svg;
}

/** The markers of the legend, about the point (18, 6). */
const SYMBOLS = {
  circle: "M14,6a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z",
  triangle: "M18,1.5L22.5,9.5L13.5,9.5Z",
  square: "M14.5,2.5L21.5,2.5L21.5,9.5L14.5,9.5Z",
  diamond: "M18,1L22,6L18,11L14,6Z",
};

/** @param {Document} document @param {string} name @param {Record<string, string | undefined>} attributes */
function shape(document, name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) made.setAttribute(key, value);
  }
  return made;
}
