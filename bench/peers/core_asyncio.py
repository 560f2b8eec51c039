"""asyncio on uvloop, measured as core_eddy.c does.

    core_asyncio.py ROW COUNT [TASKS | WAIT_MS]

The loop, its tasks and its queues as they come: tasks by loop.create_task(),
joined by awaiting them.
"""

import asyncio
import json
import platform
import sys
import time

import uvloop

BATCH = 1000


class Bench:
    def __init__(self, row, count, extra):
        self.row = row
        self.count = count
        self.extra = extra
        self.done = 0
        self.span = {}
        self.notes = {}

    def begin(self):
        self.span["wall_ns"] = time.monotonic_ns()
        self.span["cpu_ns"] = cpu_ns()

    def end(self):
        self.span["cpu_ns"] = cpu_ns() - self.span["cpu_ns"]
        self.span["wall_ns"] = time.monotonic_ns() - self.span["wall_ns"]


def cpu_ns():
    return time.clock_gettime_ns(time.CLOCK_PROCESS_CPUTIME_ID)


def memory_kib():
    """Resident memory plus page tables."""
    total = 0
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(("VmRSS:", "VmPTE:")):
                total += int(line.split()[1])
    return total


async def row_yield(bench):
    """One asyncio.sleep(0): a turn of the loop's ready queue."""

    async def loop():
        await asyncio.sleep(0)
        if bench.done == 0:
            bench.begin()
        while bench.done < bench.count:
            bench.done += 1
            if bench.done == bench.count:
                bench.end()
            await asyncio.sleep(0)

    create = asyncio.get_running_loop().create_task
    for task in [create(loop()) for _ in range(bench.extra)]:
        await task


async def row_start_join(bench):
    async def nothing():
        bench.done += 1

    create = asyncio.get_running_loop().create_task
    bench.begin()
    for _ in range(bench.count):
        await create(nothing())
    bench.end()


async def row_scope_one(bench):
    """A TaskGroup around one task."""

    async def nothing():
        bench.done += 1

    bench.begin()
    for _ in range(bench.count):
        async with asyncio.TaskGroup() as group:
            group.create_task(nothing())
    bench.end()


async def row_start_batch(bench):
    """1,000 tasks created, then awaited: faster than gather() and TaskGroup."""

    async def nothing():
        bench.done += 1

    create = asyncio.get_running_loop().create_task
    bench.begin()
    for _ in range(bench.count // BATCH):
        for task in [create(nothing()) for _ in range(BATCH)]:
            await task
    bench.end()


async def row_queue(bench):
    there, back = asyncio.Queue(1), asyncio.Queue(1)

    async def echo():
        while (item := await there.get()) is not None:
            await back.put(item)

    task = asyncio.create_task(echo())
    bench.begin()
    while bench.done < bench.count:
        await there.put(bench.done)
        if await back.get() != bench.done:
            raise SystemExit("the item came back changed")
        bench.done += 1
    bench.end()
    await there.put(None)
    await task


async def row_sleep(bench):
    loop = asyncio.get_running_loop()
    parked = 0

    async def sleep_once():
        nonlocal parked
        parked += 1
        await asyncio.sleep(wake - loop.time())
        bench.done += 1

    before = memory_kib()
    bench.begin()
    wake = loop.time() + bench.extra / 1000
    tasks = [loop.create_task(sleep_once()) for _ in range(bench.count)]
    while parked < bench.count:
        await asyncio.sleep(0)
    during = memory_kib()
    if time.monotonic_ns() - bench.span["wall_ns"] >= bench.extra * 1000000:
        raise SystemExit("WAIT_MS is too short: not all were parked in time")
    for task in tasks:
        await task
    bench.end()
    bench.notes["kib_per_task"] = round((during - before) / bench.count, 2)


async def row_semaphore(bench):
    semaphore = asyncio.Semaphore(1)
    bench.begin()
    while bench.done < bench.count:
        await semaphore.acquire()
        semaphore.release()
        bench.done += 1
    bench.end()


async def row_deadline(bench):
    bench.begin()
    while bench.done < bench.count:
        async with asyncio.timeout(5):
            pass
        bench.done += 1
    bench.end()


def main():
    row, count = sys.argv[1], int(sys.argv[2])
    bench = Bench(row, count, int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    run = globals()["row_" + row.replace("-", "_")]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run(bench))
    peer = f"CPython {platform.python_version()} asyncio, uvloop {uvloop.__version__}"
    print(json.dumps({"peer": peer, "row": row, "ops": bench.done, **bench.span, **bench.notes}))


if __name__ == "__main__":
    main()
