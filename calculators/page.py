"""The one entry that the build and the page's worker call: a JSON request in, a JSON answer out."""

from __future__ import annotations

import json
from typing import Any

from calculators.contract import MissingDataError, evaluate
from calculators.render import (
    Selection,
    notice_texts,
    plots_by_key,
    render_result,
    table_data,
    verdict_text,
)
from calculators.specs import InputError
from calculators.text import sentence


def respond(request_json: str) -> str:
    """Evaluate and render one calculator.

    Request: calculator, inputs (may lack any), language, show (list or null), hide (list), plot
    (a plot's key, 'none', or null). Answer: {ok: true, inputs, values, notices, verdict, html,
    tables, plots}, {ok: false, field, message}, or {ok: false, needs} with the names of data files
    to fetch first.
    """
    return json.dumps(answer(json.loads(request_json)), ensure_ascii=False, allow_nan=False)


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """`respond` without the JSON around it."""
    name, language = request["calculator"], request["language"]
    try:
        inputs, result = evaluate(name, request.get("inputs"))
    except InputError as error:
        return {"ok": False, "field": error.field, "message": error_text(name, error, language)}
    except MissingDataError as error:
        return {"ok": False, "needs": error.needs}
    chosen = Selection(request.get("show"), request.get("hide") or (), request.get("plot"))
    shown = [plot for plot in result.plots if chosen.has_plot(plot.key)]
    return {
        "ok": True,
        "inputs": inputs,
        "values": result.values,
        "notices": notice_texts(name, result, language),
        "verdict": verdict_text(name, result, language),
        "html": render_result(name, result, language, chosen),
        "tables": [table_data(name, table, language) for table in result.tables],
        "plots": plots_by_key(name, shown, language),
    }


def error_text(name: str, error: InputError, language: str) -> str:
    """An input error as one sentence: the field, what is allowed, what came."""
    params = {
        key: ", ".join(map(str, value)) if isinstance(value, tuple) else value
        for key, value in error.params.items()
    }
    return sentence(language, name, "errors", error.code, params)
