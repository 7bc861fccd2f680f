"""A run without an end is ended, and the page computes again: at once where a worker waits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Worker

from tests.browser.server import Host
from tests.browser.support import CHAPTER, START, Calculator, Guard, open_live, start_took
from tests.browser.test_failures import change_calculator, wait_for_snapshot

LOOP = """
    if inputs.theta == 4.25:
        while True:
            pass
"""
# As the browser tells them: the tests' machine may have more memory or less.
MEMORY = "Object.defineProperty(navigator, 'deviceMemory', { value: %d });"
SPARE = "(count) => performance.getEntriesByName('wiki-spare').length >= count"
# What else the machine does can only slow an answer down.
ATTEMPTS = 6
MARKS = "(name) => performance.getEntriesByName(name).length"
# Let theta be 4.25, which never ends; at the very moment it is ended, `next`. Milliseconds of the
# run, and from its end to the next answer in the page.
STOP = """async ([id, next]) => {
  const calculator = document.getElementById(id);
  const box = calculator.querySelector("[name=theta][data-part=box]");
  const message = calculator.querySelector("[data-message]");
  const type = (value) => {
    box.value = value;
    box.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const until = (holds) => new Promise((resolve) => {
    const watch = new MutationObserver(() => {
      if (!holds()) return;
      watch.disconnect();
      resolve(performance.now());
    });
    watch.observe(calculator, { attributes: true, subtree: true, childList: true });
  });
  const started = performance.now();
  type("4.25");
  const ended = await until(() => !message.hidden);
  const said = message.textContent;
  const kept = box.value;
  type(next);
  const answered = await until(() => !calculator.hasAttribute("data-stale") && message.hidden);
  return { run: ended - started, again: answered - ended, said, kept };
}"""


def stop(page: Page, ledger: Calculator, then: str = "1.25") -> float:
    """Milliseconds from the end of a run without one to the next answer."""
    page.set_default_timeout(START)
    before = ledger.control("theta").input_value()
    found = page.evaluate(STOP, [ledger.id, then])
    print(f"stopped after {found['run']:.0f} ms, answered {found['again']:.1f} ms later")
    assert 10_000 <= found["run"] < 11_000
    assert "10 seconds" in found["said"]
    assert found["kept"] == before
    assert ledger.control("theta").input_value() == then
    return float(found["again"])


def assert_none_waited(page: Page) -> None:
    """In the seconds of the run no worker got ready beside it: another start followed its end."""
    assert page.evaluate(MARKS, "wiki-spare") == 0
    assert page.evaluate(MARKS, "wiki-start") == 2


def test_run_is_ended_and_a_waiting_worker_answers_at_once(
    page: Page, host: Host, built: Path
) -> None:
    change_calculator(host, built, LOOP)
    page.add_init_script(MEMORY % 8)
    opened: list[Worker] = []
    page.on("worker", lambda worker: opened.append(worker))
    ledger = open_live(page, host.url + CHAPTER)
    # 50 ms, of which a machine that takes a second to start Python needs half for the page alone.
    start = start_took(page)
    limit = max(50.0, start / 20)
    took = []
    for attempt in range(1, ATTEMPTS + 1):
        # After each end another worker takes the place of the one that took over.
        page.wait_for_function(SPARE, arg=attempt, timeout=START)
        assert len(opened) == attempt + 1
        took.append(stop(page, ledger, str(attempt)))
        if took[-1] <= limit:
            break
    assert min(took) <= limit, (took, start)


def test_run_is_ended_and_a_new_worker_answers_within_one_start(
    page: Page, host: Host, built: Path
) -> None:
    change_calculator(host, built, LOOP)
    page.add_init_script(MEMORY % 4)
    ledger = open_live(page, host.url + CHAPTER)
    wait_for_snapshot(page)
    first = start_took(page)
    again = stop(page, ledger)
    assert_none_waited(page)
    assert again <= 1.2 * first


@pytest.fixture
def phone(browser: Browser, host: Host) -> Iterator[BrowserContext]:
    agent = "Mozilla/5.0 (Linux; Android 14; Phone) AppleWebKit/537.36 Chrome/140.0 Mobile"
    context = browser.new_context(
        viewport={"width": 360, "height": 780}, has_touch=True, is_mobile=True, user_agent=agent
    )
    guard = Guard(context, host.origin)
    yield context
    context.close()
    guard.check()


def test_phone_never_holds_a_second_worker(phone: BrowserContext, host: Host, built: Path) -> None:
    change_calculator(host, built, LOOP)
    page = phone.new_page()
    page.add_init_script(MEMORY % 8)
    ledger = open_live(page, host.url + CHAPTER)
    assert page.evaluate("matchMedia('(pointer: coarse)').matches")
    stop(page, ledger)
    assert_none_waited(page)
