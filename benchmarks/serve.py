"""`lastbit serve` over loopback: a release against bare Starlette with DuckDB, and fifty people who plan at once.

Each of the fifty asks for a plan every two seconds, and waits for no one. `--requests` asks for another number of plans
in all; ten thousand take seven minutes. The servers end with the benchmark.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx

import lastbit as lb
from benchmarks.measure import compare, heading, list_family, machine, processor_seconds, report
from benchmarks.soak import resident

ROWS, RUNS = 10**6, 11
CLIENTS, PAUSE, REQUESTS = 50, 2.0, 1_000
P99, GROWTH = 0.2, 20 * 10**6
RELEASES: dict[str, tuple[dict[str, Any], str]] = {
    "count by item": (
        {"question": "count", "options": {"by": "item", "domain": "0..99", "most_items": "all", "epsilon": "1/100"}},
        "select item, count(distinct unit) from '{path}' where item between 0 and 99 group by item",
    ),
    "mean": (
        {"question": "mean", "options": {"of": "cost", "bounds": ["0", "1000"], "epsilon": "1/100"}},
        "select sum(n), count(*) from (select unit, avg(greatest(least(cost, 1000), 0)) as n from '{path}' "
        "where cost is not null group by unit)",
    ),
}
BARE = """
import sys, duckdb, uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse
from starlette.routing import Route

async def ask(request):
    query = (await request.json())["query"]
    rows = await run_in_threadpool(lambda: duckdb.connect().sql(query).fetchall())
    return JSONResponse({"rows": rows})

class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets)
        print(f"http://127.0.0.1:{self.servers[0].sockets[0].getsockname()[1]}/?token=…", flush=True)

Server(uvicorn.Config(Starlette(routes=[Route("/", ask, methods=["POST"])]), port=0, log_level="error")).run()
"""


def run(rows: int = ROWS, requests: int = REQUESTS, runs: int = RUNS) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "visits.parquet")
        write_rows(path, rows)
        ledger = Path(folder, "budget.db")
        lb.Ledger(ledger).create("clinic", epsilon=1_000)
        secrets = make_tokens(Path(folder, "tokens.json"))
        words = ["serve", str(path), "--unit", "unit", "--ledger", str(ledger), "--dataset", "clinic", "--port", "0"]
        words += ["--tokens", str(Path(folder, "tokens.json")), "--no-open"]
        with (
            start_server(secrets[0], "-m", "lastbit", *words) as (ours, family),
            start_server("none", "-c", BARE) as (bare, others),
        ):
            heading(f"a release on {rows:,} rows, by HTTP")
            for name, (question, query) in RELEASES.items():
                compare(
                    name,
                    partial(release, ours, question),
                    partial(ask, bare, "", {"query": query.format(path=path)}),
                    against="Starlette and DuckDB",
                    target=1.5,
                    runs=runs,
                    busy=True,
                    processors=processor_seconds(lambda: [*family(), *others()]),
                )
            heading(f"{CLIENTS} clients, each with a plan every {PAUSE:g} seconds: {requests:,} plans")
            asyncio.run(plan_at_once(ours, secrets, family, requests))


def release(client: httpx.Client, question: dict[str, Any]) -> None:
    """Confirm a question, and release it with the key."""
    ask(client, "api/releases", {"key": ask(client, "api/confirmations", question)["key"]})


def ask(client: httpx.Client, address: str, body: dict[str, Any]) -> Any:
    """Return the answer of a service."""
    answer = client.post(address, json=body)
    answer.raise_for_status()
    return answer.json()


async def plan_at_once(
    client: httpx.Client, secrets: Sequence[str], family: Callable[[], list[int]], requests: int
) -> None:
    """Print how long plans took from the moment at which they were due, and how much more memory the server has."""
    question, options = RELEASES["count by item"][0], RELEASES["count by item"][0]["options"]
    taken: list[float] = []
    lost: list[float] = []
    held: list[int] = []
    limits = httpx.Limits(max_connections=CLIENTS, max_keepalive_connections=CLIENTS)
    spent = processor_seconds(family)
    before = spent()

    async def plan_again(web: httpx.AsyncClient, secret: str, due: float) -> None:
        own = {"authorization": f"Bearer {secret}"}
        while len(taken) < requests:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            # Each plan is for another epsilon, as those of somebody who looks for one.
            asked = {**question, "options": {**options, "people": 1_000, "epsilon": f"1/{100 + len(taken)}"}}
            try:
                answer = await web.post("api/plan", json=asked, headers=own, timeout=60)
            except httpx.TransportError:  # the server has ended the connection as the client used it
                lost.append(time.perf_counter() - due)
                continue
            answer.raise_for_status()
            taken.append(time.perf_counter() - due)
            if len(taken) in (requests // 10, requests):
                held.append(sum(map(resident, family())))
            due += PAUSE

    async with httpx.AsyncClient(base_url=client.base_url, limits=limits, trust_env=False) as web:
        begun = time.perf_counter() + 1
        await asyncio.gather(
            *(plan_again(web, secret, begun + PAUSE * place / CLIENTS) for place, secret in enumerate(secrets))
        )
    cuts = statistics.quantiles(taken, n=100)
    own = (spent() - before) / len(taken)
    note = (
        f"median {cuts[49] * 1e3:.0f} ms, longest {max(taken) * 1e3:.0f} ms; {own * 1e3:.1f} ms of the processor; "
        f"{len(lost)} connections lost"
    )
    report("a plan, 99 of 100", cuts[98], lambda value: f"{value * 1e3:.0f} ms", P99, note)
    note = f"of {held[0] / 1e6:.0f} MB after a tenth, all processes of the server"
    report("memory grown by", held[-1] - held[0], lambda value: f"{value / 1e6:.1f} MB", GROWTH, note)


@contextmanager
def start_server(secret: str, *arguments: str) -> Iterator[tuple[httpx.Client, Callable[[], list[int]]]]:
    """Start a Python that prints its address when it listens, and end it; yield a client, and its processes."""
    with subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if found := re.search(r"(http\S+/)\?token=", line):
                    break
            else:
                raise RuntimeError("the server did not start")
            headers = {"authorization": f"Bearer {secret}"}
            with httpx.Client(base_url=found[1], headers=headers, timeout=60, trust_env=False) as client:
                yield client, lambda: list_family(process.pid)
        finally:
            process.terminate()


def make_tokens(path: Path) -> list[str]:
    """Write a token for each client, and return their secrets."""
    from lastbit.web.token_file import TokenFile
    from lastbit.web.tokens import Token

    tokens, secrets = zip(*(Token.make(f"client {place}", "release") for place in range(CLIENTS)), strict=True)
    TokenFile(path).add(*tokens)
    return list(secrets)


def write_rows(path: Path, rows: int) -> None:
    """Write rows of whole numbers and floats; a person has ten."""
    import duckdb

    duckdb.sql("select setseed(0.5)").fetchall()
    duckdb.sql(
        f"copy (select (random() * {rows // 10})::bigint as unit, (random() * 200)::bigint as item, "
        f"round(random() * 1000, 2) as cost from range({rows})) to '{path}' (format parquet)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.serve", description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--requests", type=int, default=REQUESTS)
    options = parser.parse_args()
    print(machine("lastbit", "starlette", "duckdb"))
    run(options.rows, options.requests)


if __name__ == "__main__":
    main()
