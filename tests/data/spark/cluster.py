"""A standalone Spark of two workers, in which tasks are run twice, and executors and a worker are killed.

Run as a program: the Spark of the other tests is one process, and there is one Spark in a process. It prints JSON.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import lastbit as lb
from lastbit.mechanisms.discover import spark
from tests import processes

OPTIONS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.log.level": "OFF",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.speculation": "true",
    "spark.speculation.interval": "20ms",
    "spark.speculation.multiplier": "1.0001",
    "spark.speculation.quantile": "0.01",
    "spark.speculation.minTaskRuntime": "1ms",
    "spark.speculation.efficiency.enabled": "false",
    "spark.task.maxFailures": "20",
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.adaptive.enabled": "false",
}


def start_cluster(folder: str, closing: ExitStack) -> tuple[str, list[subprocess.Popen[bytes]]]:
    """A master and two workers, each with an address of its own: Spark tries a task again on another host only."""
    import pyspark

    home = Path(pyspark.__file__).parent
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    place = f"spark://127.0.0.1:{port}"
    settings = {"SPARK_HOME": str(home), "SPARK_WORKER_DIR": folder, "SPARK_DAEMON_MEMORY": "256m"}
    settings |= {name: os.environ[name] for name in ("JAVA_HOME",) if name in os.environ}
    log = closing.enter_context(Path(folder, "log").open("wb"))  # noqa: SIM115

    def run(role: str, *arguments: str) -> subprocess.Popen[bytes]:
        program = [home / "bin/spark-class", f"org.apache.spark.deploy.{role}", *arguments, "--webui-port", "0"]
        process = processes.start(list(map(str, program)), variables=settings, stdout=log, stderr=log)
        closing.callback(process.wait, 60)
        closing.callback(process.kill)
        return process

    run("master.Master", "--host", "127.0.0.1", "--port", str(port))
    hosts = ["127.0.0.1", "127.0.0.2"]
    return place, [run("worker.Worker", place, "--host", host, "--cores", "1", "--memory", "1g") for host in hosts]


def start_session(place: str) -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(place)
    for name, value in OPTIONS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    tracker = session.sparkContext._jsc.sc().statusTracker()
    while len(tracker.getExecutorInfos()) < 3:  # the driver is one
        time.sleep(0.1)
    return session


def executors(worker: int) -> list[int]:
    """The executors that a worker started, by their ids."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            command = (folder / "cmdline").read_bytes() if folder.name.isdigit() else b""
            if b"CoarseGrainedExecutorBackend" in command and worker in ancestors(int(folder.name)):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def ancestors(process: int) -> list[int]:
    found = []
    while process > 1:
        process = int((Path("/proc") / str(process) / "stat").read_text().rsplit(")", 1)[1].split()[1])
        found.append(process)
    return found


def draw_slowly(log: str) -> None:
    """Note each attempt at drawing when it ends, and let the first attempt of one task take longer than the second."""
    quick = spark.make_keyed_draws

    def slow_draws(draw: Any) -> Any:
        draws = quick(draw)

        def of_batch(batch: Any, steps: Any) -> Any:
            from pyspark import TaskContext

            context: Any = TaskContext.get()
            with open(log, "a") as file:
                file.write(f"{context.stageId()} {context.partitionId()} {context.attemptNumber()}\n")
            if context.partitionId() == 1 and context.attemptNumber() == 0:
                time.sleep(5)
            return draws(batch, steps)

        return of_batch

    spark.make_keyed_draws = slow_draws


def main(folder: str, kill: bool) -> None:
    with ExitStack() as closing:
        place, workers = start_cluster(folder, closing)
        session = start_session(place)
        closing.callback(session.stop)
        log = str(Path(folder, "attempts"))
        draw_slowly(log)
        frame = session.range(0, 3_000, numPartitions=2).selectExpr("id", "id % 40 AS item")
        values = lb.count(frame, by="item", unit="id", domain=lb.UNKNOWN, most_items=1)
        mechanism = lb.DiscoverHistogram.of(values, epsilon="1/10", delta="1/10")
        found = mechanism.release_spark(values).frame

        def read(table: Any) -> list[Any]:
            return sorted(tuple(row) for row in table.collect())

        tables = [read(found)]
        if kill:
            for process in executors(workers[0].pid):
                os.kill(process, signal.SIGKILL)
            tables.append(read(found.filter("value IS NOT NULL")))
            lost = executors(workers[1].pid)
            workers[1].kill()
            for process in lost:
                os.kill(process, signal.SIGKILL)
            tables.append(read(found.selectExpr("value", "item").select("item", "value")))
        tables.append(read(found.repartition(3).select("item", "value")))
        found.unpersist(True)
        tables.append(read(found.orderBy("item")))
        attempts = Path(log).read_text().split("\n")[:-1]
        print(json.dumps({"tables": tables, "attempts": attempts}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] == "kill")
