"""asyncio, on its own loop or on uvloop, measured as core_eddy.c does.

    core_asyncio.py asyncio|uvloop ROW COUNT [TASKS | WAIT_MS | ITEMS]

The loop, its tasks and its queues as they come: tasks by loop.create_task(),
joined by awaiting them.
"""

import asyncio
import json
import os
import platform
import sys
import threading
import time

BATCH = 1000
PIECE_BYTES = 4096
PIECE = bytes(PIECE_BYTES)


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
    """An asyncio.sleep(0): a turn of the loop's ready queue."""

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
    """TASKS (1,000) created, then awaited: faster than gather() and TaskGroup."""
    batch = bench.extra if bench.extra > 1 else BATCH

    async def nothing():
        bench.done += 1

    create = asyncio.get_running_loop().create_task
    for i in range(max(bench.count // batch, 1) + 1):
        if i == 1:  # the clock starts after the first batch
            bench.done = 0
            bench.begin()
        for task in [create(nothing()) for _ in range(batch)]:
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


async def row_lock(bench):
    lock = asyncio.Lock()
    bench.begin()
    while bench.done < bench.count:
        await lock.acquire()
        lock.release()
        bench.done += 1
    bench.end()


async def row_event(bench):
    there, back = asyncio.Event(), asyncio.Event()

    async def echo():
        while True:
            await there.wait()
            there.clear()
            back.set()

    task = asyncio.create_task(echo())
    bench.begin()
    while bench.done < bench.count:
        there.set()
        await back.wait()
        back.clear()
        bench.done += 1
    bench.end()
    task.cancel()


async def row_condition(bench):
    changed = asyncio.Condition()
    turn = 0

    async def echo():
        nonlocal turn
        async with changed:
            while True:
                if turn == 1:
                    turn = 0
                    changed.notify()
                await changed.wait()

    task = asyncio.create_task(echo())
    bench.begin()
    async with changed:
        while bench.done < bench.count:
            turn = 1
            changed.notify()
            while turn == 1:
                await changed.wait()
            bench.done += 1
    bench.end()
    task.cancel()


async def row_future(bench):
    """Futures serve once: each round trip makes two."""
    create = asyncio.get_running_loop().create_future
    there, back = create(), create()

    async def echo():
        nonlocal there
        while (item := await there) is not None:
            there = create()
            back.set_result(item)

    task = asyncio.create_task(echo())
    bench.begin()
    while bench.done < bench.count:
        there.set_result(bench.done)
        if await back != bench.done:
            raise SystemExit("the result came back changed")
        back = create()
        bench.done += 1
    bench.end()
    there.set_result(None)
    await task


async def row_generator(bench):
    """A plain generator in a plain loop; nothing of asyncio is in it."""

    def count_up():
        for i in range(bench.count):
            yield i

    done = 0
    bench.begin()
    for value in count_up():
        if value != done:
            raise SystemExit("a value is missing")
        done += 1
    bench.end()
    bench.done = done


async def row_async_generator(bench):
    async def count_up():
        for i in range(bench.count):
            yield i

    done = 0
    bench.begin()
    async for value in count_up():
        if value != done:
            raise SystemExit("a value is missing")
        done += 1
    bench.end()
    bench.done = done


async def row_select(bench):
    """asyncio.wait() for the first of two gets; the one that is left is kept."""
    there, back = (asyncio.Queue(1), asyncio.Queue(1)), asyncio.Queue(1)
    create = asyncio.get_running_loop().create_task

    async def echo():
        gets = {create(queue.get()): queue for queue in there}
        try:
            while True:
                done, _ = await asyncio.wait(gets, return_when=asyncio.FIRST_COMPLETED)
                for get in done:
                    queue = gets.pop(get)
                    gets[create(queue.get())] = queue
                    await back.put(get.result())
        finally:
            for get in gets:
                get.cancel()

    task = create(echo())
    bench.begin()
    while bench.done < bench.count:
        await there[bench.done % 2].put(bench.done)
        if await back.get() != bench.done:
            raise SystemExit("the item came back changed")
        bench.done += 1
    bench.end()
    task.cancel()


async def row_threadsafe(bench):
    """A lock serves as the semaphore: threading.Semaphore is slower."""
    loop = asyncio.get_running_loop()
    made = threading.Lock()
    made.acquire()
    over = asyncio.Event()

    def call_again():
        while bench.done < bench.count:
            loop.call_soon_threadsafe(made.release)
            made.acquire()
            bench.done += 1
        loop.call_soon_threadsafe(over.set)

    thread = threading.Thread(target=call_again)
    bench.begin()
    thread.start()
    await over.wait()
    thread.join()
    bench.end()


async def row_to_thread(bench):
    """loop.run_in_executor(): asyncio.to_thread() is that and copies a context."""
    run = asyncio.get_running_loop().run_in_executor

    def job(item):
        return item

    bench.begin()
    while bench.done < bench.count:
        if await run(None, job, bench.done) != bench.done:
            raise SystemExit("the result came back changed")
        bench.done += 1
    bench.end()


def go_on(bench):
    """Count one operation; false: it was the last, or all are done and it does not count."""
    if bench.done == bench.count:
        return False
    if bench.done == 0:
        bench.begin()
    bench.done += 1
    if bench.done == bench.count:
        bench.end()
    return bench.done < bench.count


async def pairs_run(bench, ask, answer):
    """TASKS tasks in pairs, until COUNT operations are done by all."""
    loop = asyncio.get_running_loop()
    asking, answering = [], []
    for _ in range(bench.extra // 2):
        channels = ask.channels(), ask.channels()
        answering.append(loop.create_task(answer(*channels)))
        asking.append(loop.create_task(ask(bench, *channels)))
    for task in asking:
        await task
    for task in answering:
        task.cancel()


async def queue_ask(bench, there, back):
    more = True
    while more:
        await there.put(1)
        await back.get()
        more = go_on(bench)


async def queue_answer(there, back):
    while True:
        await back.put(await there.get())


queue_ask.channels = lambda: asyncio.Queue(1)


async def row_queue_many(bench):
    await pairs_run(bench, queue_ask, queue_answer)


async def event_ask(bench, there, back):
    more = True
    while more:
        there.set()
        await back.wait()
        back.clear()
        more = go_on(bench)


async def event_answer(there, back):
    while True:
        await there.wait()
        there.clear()
        back.set()


event_ask.channels = asyncio.Event


async def row_event_many(bench):
    await pairs_run(bench, event_ask, event_answer)


async def row_lock_line(bench):
    """All want one lock, and give way while they hold it."""
    lock = asyncio.Lock()

    async def stand():
        more = True
        while more:
            async with lock:
                await asyncio.sleep(0)
                more = go_on(bench)

    for task in [asyncio.create_task(stand()) for _ in range(bench.extra)]:
        await task


async def row_deadline_among(bench):
    call = asyncio.get_running_loop().call_later
    handles = [call(1000 + i * 1e-9, int) for i in range(bench.extra)]
    await row_deadline(bench)
    for handle in handles:
        handle.cancel()


async def row_timers_cancel(bench):
    call = asyncio.get_running_loop().call_later
    bench.begin()
    while bench.done < bench.count:
        for handle in [call(10 + i * 7919 % 1000 * 1e-6, int) for i in range(bench.extra)]:
            handle.cancel()
        bench.done += bench.extra
    bench.end()


async def row_timers_fire(bench):
    loop = asyncio.get_running_loop()

    def count():
        bench.done += 1

    bench.begin()
    while bench.done < bench.count:
        wake = loop.time() + 0.002 + bench.extra * 2e-6
        for _ in range(bench.extra):
            loop.call_later(wake - loop.time(), count)
        await asyncio.sleep(wake + 0.001 - loop.time())
        while bench.done % bench.extra:
            await asyncio.sleep(0.001)
    bench.end()


async def repeat(bench, operation):
    """COUNT operations by TASKS tasks, on a file of the current folder; each operation is one job of a thread."""
    call = asyncio.get_running_loop().run_in_executor
    path = f"eddy-bench-{os.getpid()}"
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    os.pwrite(fd, bytes(PIECE_BYTES * bench.extra), 0)
    begun = 0

    async def task(number):
        nonlocal begun
        while begun < bench.count:
            begun += 1
            await call(None, operation, fd, path, number)
            bench.done += 1

    bench.begin()
    await asyncio.gather(*(task(number) for number in range(bench.extra)))
    bench.end()
    os.close(fd)
    os.unlink(path)


def read_piece(fd, _path, _task):
    assert len(os.pread(fd, PIECE_BYTES, 0)) == PIECE_BYTES


def write_piece(fd, _path, task):
    assert os.pwrite(fd, PIECE, task * PIECE_BYTES) == PIECE_BYTES


def write_synced(fd, _path, task):
    write_piece(fd, _path, task)
    os.fsync(fd)


def open_and_read(_fd, path, _task):
    with open(path, "rb", buffering=0) as file:
        assert len(file.read(PIECE_BYTES)) == PIECE_BYTES


async def row_file_read(bench):
    await repeat(bench, read_piece)


async def row_file_write(bench):
    await repeat(bench, write_piece)


async def row_file_sync(bench):
    await repeat(bench, write_synced)


async def row_file_open(bench):
    await repeat(bench, open_and_read)


async def row_echo(bench):
    """A server of COUNT connections, which prints its port; protocols are faster than streams."""
    loop = asyncio.get_running_loop()
    over = loop.create_future()
    left = bench.count

    class Echo(asyncio.Protocol):
        def connection_made(self, transport):
            self.write = transport.write

        def data_received(self, data):
            bench.done += 1
            self.write(data)

        def connection_lost(self, _error):
            nonlocal left
            left -= 1
            if left == 0:
                over.set_result(None)

    server = await loop.create_server(Echo, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    bench.begin()
    await over
    bench.end()
    server.close()


def new_loop(name):
    """How to make the loop, and what it is called."""
    if name == "asyncio":
        return None, f"CPython {platform.python_version()} asyncio"
    import uvloop

    return uvloop.new_event_loop, f"CPython {platform.python_version()}, uvloop {uvloop.__version__}"


def main():
    factory, peer = new_loop(sys.argv[1])
    row, count = sys.argv[2], int(sys.argv[3])
    bench = Bench(row, count, int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    run = globals()["row_" + row.replace("-", "_")]
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(run(bench))
    print(json.dumps({"peer": peer, "row": row, "ops": bench.done, **bench.span, **bench.notes}))


if __name__ == "__main__":
    main()
