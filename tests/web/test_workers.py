"""Plans and audits in processes of their own: bounded in time, memory and number, fair, and ended when nobody waits."""

from __future__ import annotations

import asyncio
import pickle
import signal
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from lastbit.web.desk import Confirmation, Desk
from lastbit.web.tasks import Limits, Reply, WorkerTask, pack, unpack
from lastbit.web.workers import AskerGone, Overloaded, TooHard, Workers
from tests.web import hard_work
from tests.web.conftest import Served
from tests.web.test_attacks import desk

__all__ = ["desk"]

SCOPE = {"method": "GET", "path": "/", "query_string": b"a=1", "path_params": {}}


def task(work: Callable[..., Any], asker: str = "anna") -> WorkerTask:
    return WorkerTask(work, "look", SCOPE, b"", "look", asker)


async def never() -> None:
    await asyncio.Event().wait()


def run(desk: Desk, scene: Callable[[Workers], Coroutine[Any, Any, Any]], size: int = 2, **limits: Any) -> Any:
    """Play a scene with workers, in a loop of its own thread: the driver of the browser keeps one in this one."""

    async def play() -> Any:
        workers = Workers(desk, size, Limits(**limits))
        workers.start()
        try:
            return await scene(workers)
        finally:
            await workers.close()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(play())).result()


def test_a_worker_answers_and_what_is_printed_is_no_answer(desk: Desk) -> None:
    async def scene(workers: Workers) -> list[Reply]:
        return [await workers.run(task(hard_work.say), "anna", "", never) for _ in range(3)]

    replies = run(desk, scene, size=1)
    assert len({reply.body for reply in replies}) == 1  # one process does them all
    assert b" anna look {'a': '1'}" in replies[0].body


@pytest.mark.parametrize(
    ("work", "limits"),
    [
        (hard_work.compute, {"cpu_seconds": 0.3}),
        (hard_work.sleep, {"wall_seconds": 0.3}),
        (hard_work.end, {}),
    ],
    ids=["computes", "waits", "dies"],
)
def test_work_without_an_end_is_ended_and_a_new_process_takes_the_next(
    work: Callable[..., Any], limits: dict[str, Any], desk: Desk
) -> None:
    async def scene(workers: Workers) -> Reply:
        while not workers._idle:
            await asyncio.sleep(0.01)
        (worker,) = workers._idle
        with pytest.raises(TooHard, match=r"more time or memory than the server allows.* Nothing was spent\."):
            await workers.run(task(work), "anna", "", never)
        # By the limit of its own, and not by one that comes later.
        assert await worker.process.wait() == -(signal.SIGPROF if work is hard_work.compute else signal.SIGKILL)
        workers._limits = Limits()
        return await workers.run(task(hard_work.say), "anna", "", never)

    assert b"anna" in run(desk, scene, size=1, **limits).body


def test_memory_has_an_end_and_a_worker_that_has_grown_makes_room(desk: Desk) -> None:
    async def scene(workers: Workers) -> list[Reply]:
        works = (hard_work.take_memory, hard_work.say, hard_work.grow, hard_work.say)
        return [await workers.run(task(work), "anna", "", never) for work in works]

    taken, before, grown, after = run(desk, scene, size=1, growth=32 << 20)
    assert (taken.status, b"MemoryError" in taken.body) == (500, True)
    assert (before.last, grown.last) == (False, True)
    assert before.body == grown.body != after.body


def test_the_queue_is_bounded_and_no_token_has_all_workers(desk: Desk) -> None:
    async def scene(workers: Workers) -> tuple[int, int]:
        hard = [
            asyncio.ensure_future(workers.run(task(hard_work.sleep), "anna", str(place), never)) for place in range(90)
        ]
        while len(workers._all) < 2:
            await asyncio.sleep(0.01)
        assert workers._running["anna"] == 1
        other = await workers.run(task(hard_work.say, "bert"), "bert", "", never)  # while all of anna's wait or run
        assert b"bert" in other.body
        done = [waiter for waiter in hard if waiter.done()]
        refused = sum(isinstance(waiter.exception(), Overloaded) for waiter in done)
        waiting = len(workers._waiting)
        for waiter in hard:
            waiter.cancel()
        await asyncio.gather(*hard, return_exceptions=True)
        return refused, len(done) - refused + waiting

    assert run(desk, scene) == (26, 63)  # 64 of a token, of which one is under way


def test_next_is_whoever_has_used_the_least(desk: Desk) -> None:
    order: list[str] = []

    async def scene(workers: Workers) -> None:
        async def ask(asker: str, source: str) -> None:
            await workers.run(task(hard_work.say, asker), asker, source, never)
            order.append(f"{asker} {source}")

        workers._used |= {("anna", "one"): 50.0, ("anna", "two"): 1.0, ("bert", "one"): 2.0}
        await asyncio.gather(ask("anna", "one"), ask("anna", "two"), ask("bert", "one"), ask("carl", "one"))

    run(desk, scene, size=1)
    assert order == ["carl one", "bert one", "anna two", "anna one"]


def test_work_that_nobody_waits_for_ends(desk: Desk) -> None:
    async def scene(workers: Workers) -> Reply:
        gone = asyncio.Event()
        running = asyncio.ensure_future(workers.run(task(hard_work.compute), "anna", "", gone.wait))
        waiting = asyncio.ensure_future(workers.run(task(hard_work.compute), "anna", "", gone.wait))
        while not workers._running["anna"]:
            await asyncio.sleep(0.01)
        gone.set()
        for work in (running, waiting):
            with pytest.raises(AskerGone):
                await work
        assert workers._waiting == []
        return await workers.run(task(hard_work.say), "anna", "", never)

    assert b"anna" in run(desk, scene, size=1).body


def test_the_lists_of_the_server_do_not_travel(desk: Desk) -> None:
    from lastbit.questions.domain import Domain

    desk.lists = {"item": Domain(tuple(f"item {place}" for place in range(50_000)))}
    options = {"by": "item", "domain": [desk.lists["item"]], "k": 1, "epsilon": "1"}
    confirmation = Confirmation(desk.parse("top", options, "page"), 1000)
    data = pack(Reply(200, [], b"", {"key": confirmation}), desk)
    assert len(data) < 10_000
    again = unpack(data, desk).waiting["key"]
    assert again.request["domain"][0] is desk.lists["item"]
    assert again.request.question.mechanism == confirmation.request.question.mechanism
    copy = pickle.loads(pickle.dumps(desk))
    assert (copy.columns, copy.rows, copy.lists) == (desk.columns, desk.rows, desk.lists)


HARD = {"question": "top", "options": {"by": "diagnosis", "domain": "1..200000", "k": 10, "epsilon": "1e-40"}}


def test_hard_plans_and_audits_of_one_token_stop_nobody_else(served: Served) -> None:
    audit = {"mechanism": "NoisyTopK", "settings": "k=2 epsilon=1 resolution=1/1000"}

    async def ask_all() -> tuple[int, list[int]]:
        def client(role: str) -> httpx.AsyncClient:
            headers = {"authorization": f"Bearer {served.tokens[role]}"}
            limits = httpx.Limits(max_connections=100)
            return httpx.AsyncClient(
                base_url=served.address, headers=headers, timeout=600, trust_env=False, limits=limits
            )

        async with client("look") as hostile, client("release") as other:
            hard: list[asyncio.Future[httpx.Response]] = [
                asyncio.ensure_future(hostile.post("api/plan", json=HARD)) for _ in range(25)
            ] + [
                asyncio.ensure_future(
                    hostile.get("api/audit", params={**audit, "values": "0,1,2", "neighbour": "1,1,2"})
                )
                for _ in range(20)
            ]
            await asyncio.sleep(1)
            answers = [
                await other.get("budget"),
                await other.post("api/plan", json={"question": "count", "options": {"epsilon": "1/2"}}),
                await other.get("api/accounts"),
            ]
            done = sum(work.done() for work in hard)
            for work in hard:  # the connections end, and with them the work
                work.cancel()
            await asyncio.gather(*hard, return_exceptions=True)
            answers.append(await hostile.post("api/plan", json={"question": "count", "options": {"epsilon": "1/2"}}))
            return done, [answer.status_code for answer in answers]

    with ThreadPoolExecutor(1) as thread:
        done, codes = thread.submit(lambda: asyncio.run(ask_all())).result()
    assert codes == [200, 200, 200, 200]
    assert done < 20  # the others came through while most of the hard work waited


def test_workers_end_with_the_server(serve: Callable[..., Served]) -> None:
    server = serve()
    with server.client("look") as client:
        assert client.post("api/plan", json={"question": "count", "options": {"epsilon": "1/2"}}).status_code == 200
    children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
    if not children.exists():
        pytest.skip("this machine does not list the children of a process")
    workers = children.read_text().split()
    assert len(workers) >= 2
    server.kill()  # it cannot say good-bye
    for worker in workers:
        while _runs(worker):
            pass


def _runs(process: str) -> bool:
    try:
        return "lastbit.web.worker" in Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return False
