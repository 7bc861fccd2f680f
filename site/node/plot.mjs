/** Plots for the build: a plot's spec in, its markup out, one JSON line each. */

import { parseHTML } from "linkedom";

import { plotMarkup } from "../scripts/plot.js";
import { serveLines } from "./lines.mjs";

const { document } = parseHTML("<!doctype html><html><body></body></html>");

serveLines((spec) => plotMarkup(spec, document));
