"""The Chromium of the tests: which one, and how it is started."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

SYSTEM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
# A whole Chromium loads pages of its own for the address bar of each window and keeps a process
# ready for the next site: a tenth of the time of a test.
OWN_PAGES = ("WebUIOmniboxAimPopup", "WebUIOmniboxPopup", "SpareRendererForSitePerProcess")
# What Playwright switches off. Chromium heeds the last such list alone, so ours begins with it.
PLAYWRIGHT_OFF = (
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    "MediaRouter",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "TcpPortRandomizationWin",
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
    "msForceBrowserSignIn",
    "msEdgeUpdateLaunchServicesPreferredVersion",
)
# No request but those of the page under test.
ARGUMENTS = (
    f"--disable-features={','.join(PLAYWRIGHT_OFF + OWN_PAGES)}",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
)


def system() -> str | None:
    """The path of an installed Chromium or Chrome; without one, Playwright's own is the default."""
    found = next(filter(None, map(shutil.which, SYSTEM)), None)
    return found or (str(MAC) if MAC.exists() else None)


def is_there() -> bool:
    """Whether a browser can be started: the system's, or one that Playwright has installed."""
    if system() is not None:
        return True
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        return Path(started.chromium.executable_path).exists()


def arguments() -> list[str]:
    """Command-line arguments; root may start Chromium only without its sandbox."""
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return [*ARGUMENTS, *(["--no-sandbox"] if is_root else [])]
