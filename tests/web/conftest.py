"""One server and one browser for all tests of the page. The server is the real command, in a process of its own."""

from __future__ import annotations

import importlib.util
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx
import pytest

import lastbit as lb
from tests import processes
from tests.machine import chromium

EXAMPLE = Path(__file__).parents[2] / "examples" / "demo.py"
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("web"))


@dataclass
class Served:
    """A server, its folder, and the token of each role."""

    folder: Path
    process: subprocess.Popen[str]
    address: str
    tokens: dict[str, str]

    @cached_property
    def home(self) -> str:
        """The address of the pages: sessions live there."""
        with self.client("") as client:
            entered = client.get("", params={"token": self.tokens["look"]}).text
        found = re.search(r"(http://lastbit-\w+\.localhost:\d+/)\?ticket=", entered)
        assert found is not None
        return found[1]

    @property
    def ledger(self) -> lb.Ledger:
        return lb.Ledger(self.folder / "budget.db")

    def client(self, role: str = "raise", **more: Any) -> httpx.Client:
        headers = {"authorization": f"Bearer {self.tokens[role]}"} if role else {}
        return httpx.Client(base_url=self.address, headers=headers, timeout=600, trust_env=False, **more)

    def kill(self, how: int = signal.SIGKILL) -> None:
        self.process.send_signal(how)
        self.process.wait(600)


def started(folder: Path, *more: str, dataset: str = "clinic") -> Served:
    table = ["visits.csv", "--unit", "patient", "--ledger", "budget.db", "--dataset", dataset]
    command = [sys.executable, "-m", "lastbit", "serve", *table, "--port", "0", "--no-open", *more]
    process = processes.start(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    with process.stdout as addresses:
        lines = [addresses.readline()]
        if "takes each token of" not in lines[0]:
            lines += [addresses.readline() for _ in range(2)]
    matches = [match for line in lines if (match := re.search(r"(http\S+/)\?token=(\S+)", line))]
    assert len(matches) == len(lines), "the server did not start"
    tokens = {
        role: match[2] for role, match in zip(("look", "release", "raise"), matches, strict=False) if len(lines) == 3
    }
    return Served(folder, process, matches[0][1], tokens)


def clinic(folder: Path) -> None:
    """The table of the demo, and accounts for several tests."""
    specification = importlib.util.spec_from_file_location("demo", EXAMPLE)
    assert specification is not None
    assert specification.loader is not None
    demo = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(demo)
    demo.write_clinic(folder, patients=300, visits=1500)
    ledger = lb.Ledger(folder / "budget.db")
    ledger.create("clinic", epsilon=30, delta="1e-3")
    ledger.create("small", epsilon=1)


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("clinic")
    clinic(folder)
    server = started(folder, "--domain", "diagnosis=diagnoses.txt", "--tokens", "tokens.json")
    yield server
    server.kill(signal.SIGTERM)


@pytest.fixture
def serve(served: Served) -> Iterator[Callable[..., Served]]:
    """Starts other servers on the same books. They end with the test."""
    running: list[Served] = []

    def start(*more: str, dataset: str = "clinic") -> Served:
        running.append(started(served.folder, *more, dataset=dataset))
        return running[-1]

    yield start
    for each in running:
        if each.process.poll() is None:
            each.kill()


@pytest.fixture(scope="module")  # the driver leaves a loop running, in which tests of others could start none
def browser() -> Iterator[Any]:
    if chromium() is None:
        pytest.skip("there is no Chromium on this machine")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=600_000)  # five seconds are little on a machine that has much to do
    with sync_playwright() as driver:
        running = driver.chromium.launch(
            executable_path=chromium(), args=FLAGS, timeout=600_000, env=processes.environment()
        )
        yield running
        running.close()


def is_wrong(message: Any) -> bool:
    """Whether a console tells of an error; a form that is refused is none."""
    return message.type == "error" and "400 (Bad Request)" not in message.text


@pytest.fixture
def visit(browser: Any, served: Served) -> Iterator[Callable[..., Any]]:
    """Opens the page with the token of a role, in a window of its own. Nothing may go wrong in the window."""
    windows, wrong = [], []

    def opened(role: str = "release", at: Served | None = None, **settings: Any) -> Any:
        server = at or served
        window = browser.new_context(**settings)
        windows.append(window)
        page = window.new_page()
        page.set_default_timeout(600_000)
        page.on("console", lambda message: wrong.append(message.text) if is_wrong(message) else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("response", lambda answer: wrong.append(f"{answer.status} {answer.url}") if answer.status == 404 else 0)
        ours = (server.address, server.home)
        page.on("request", lambda request: request.url.startswith(ours) or wrong.append(request.url))
        page.goto(f"{server.address}?token={server.tokens[role]}")
        page.wait_for_url(server.home)
        page.wait_for_selector("h1")
        return page

    yield opened
    for each in windows:
        each.close()
    assert wrong == []
