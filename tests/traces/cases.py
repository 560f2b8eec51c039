#!/usr/bin/env python3
"""cases.py - the corner cases as programs of asyncio, and what they do.

    tests/traces/cases.py > tests/traces/asyncio.txt

Needs CPython 3.13.  Prints for each case its name and then a line for each
thing that happens, in the words that the cases in C use too: `cancelled` is a
CancelledError here and -ECANCELED there, `timed out` a TimeoutError and
-ETIMEDOUT, `refused` a misuse that is reported to the caller, and failures are
named by their errno.
"""
import asyncio
import errno
import gc
import os
import signal
import sys
import threading
import time
from asyncio import CancelledError, create_task, current_task, get_running_loop, sleep

CASES = []


def say(text):
    print(text, flush=True)


def case(name, title, **how):
    def add(function):
        CASES.append((name, title, function, how))
        return function
    return add


def fails(error):
    raise OSError(error, os.strerror(error))


def word(error):
    """What an exception is called in a trace."""
    if isinstance(error, CancelledError):
        return "cancelled"
    if isinstance(error, TimeoutError):
        return "timed out"
    if isinstance(error, asyncio.BrokenBarrierError):
        return "broken"
    if isinstance(error, OSError):
        return errno.errorcode[error.errno]
    if isinstance(error, KeyboardInterrupt):
        return "cancelled by SIGINT"
    if isinstance(error, SystemExit):
        return f"the process ends with {error.code}"
    if isinstance(error, BaseExceptionGroup):
        return ", ".join(word(one) for one in error.exceptions)
    return "refused"


async def came_to(awaitable):
    """The word for what an await gives."""
    try:
        value = await awaitable
    except (CancelledError, Exception) as error:  # what the case is about
        return word(error)
    return "passed" if value is None or value is True else value


def yes(condition):
    return "yes" if condition else "no"


# --- cancelling ---

@case("E1", "a task is cancelled before its first run")
async def cancel_before_the_first_run():
    async def body():
        say("the body runs")
        await sleep(1)
    task = create_task(body())
    task.cancel()
    say(f"done at once: {yes(task.done())}")
    say(f"task: {await came_to(task)}")


@case("E2", "a task is cancelled after what it waits for is there, before it runs on")
async def cancel_after_the_result():
    future = get_running_loop().create_future()

    async def body():
        try:
            say(f"wait: {await future}")
        except CancelledError:
            say("wait: cancelled")
            raise
        say(f"next call: {await came_to(sleep(0))}")
    task = create_task(body())
    await sleep(0)
    future.set_result(5)
    task.cancel()
    await came_to(task)
    say(f"future: {future.result()}")


@case("E3", "a task is cancelled three times before it runs, and twice later; it goes on")
async def three_cancels():
    async def body():
        for i in range(3):
            say(f"sleep {i}: {await came_to(sleep(1))}")
        return 7
    task = create_task(body())
    await sleep(0)
    for _ in range(3):
        task.cancel()
    await sleep(0)
    await sleep(0)
    for _ in range(2):
        say("main: cancels again")
        task.cancel()
        await sleep(0)
    say(f"task: {await came_to(task)}")


@case("E4", "a task goes on after it was cancelled")
async def cancel_that_is_swallowed():
    async def body():
        say(f"sleep: {await came_to(sleep(10))}")
        say(f"second sleep: {await came_to(sleep(0.01))}")
        return 1
    task = create_task(body())
    await sleep(0)
    task.cancel()
    say(f"task: {await came_to(task)}")


@case("E5", "a task cancels itself and returns")
async def self_cancel_then_return():
    async def body():
        current_task().cancel()
        return 3
    say(f"task: {await came_to(create_task(body()))}")


@case("E6", "a task cancels itself and fails")
async def self_cancel_then_failure():
    async def body():
        current_task().cancel()
        fails(errno.EIO)
    say(f"task: {await came_to(create_task(body()))}")


@case("E7", "a task cancels itself and gives way")
async def self_cancel_then_yield():
    async def body():
        current_task().cancel()
        say(f"sleep of 0: {await came_to(sleep(0))}")
    await came_to(create_task(body()))


@case("E8", "a task cancels itself and makes calls that need not wait")
async def self_cancel_then_calls_that_need_not_wait():
    lock, queue, event = asyncio.Lock(), asyncio.Queue(), asyncio.Event()
    future = get_running_loop().create_future()
    queue.put_nowait(1)
    event.set()
    future.set_result(1)

    async def body():
        current_task().cancel()
        say(f"free lock: {await came_to(lock.acquire())}")
        say(f"queue with an item: {await came_to(queue.get())}")
        say(f"event that is set: {await came_to(event.wait())}")
        say(f"future that is done: {await came_to(future)}")
        say(f"sleep of 0: {await came_to(sleep(0))}")
    await came_to(create_task(body()))


# --- deadlines ---

@case("E9", "a result and the deadline come in one turn, the result first")
async def result_then_deadline():
    loop = get_running_loop()
    future = loop.create_future()

    async def body():
        say(f"wait_for: {await came_to(asyncio.wait_for(future, 0.05))}")
    task = create_task(body())
    await sleep(0)
    loop.call_later(0.04, future.set_result, 7)
    time.sleep(0.1)
    await task
    say(f"future: {future.result()}")


@case("E9b", "a result and the deadline come in one turn, the deadline first")
async def deadline_then_result():
    loop = get_running_loop()
    future = loop.create_future()

    async def body():
        say(f"wait_for: {await came_to(asyncio.wait_for(future, 0.04))}")
    task = create_task(body())
    await sleep(0)
    loop.call_later(0.05, lambda: future.done() or future.set_result(7))
    time.sleep(0.1)
    await task
    say(f"future: {await came_to(future)}")


async def in_timeout(seconds, body):
    result = "passed"
    try:
        async with asyncio.timeout(seconds) as deadline:
            await body()
    except (TimeoutError, CancelledError) as error:
        result = word(error)
    say(f"scope: {result}")
    say(f"expired: {yes(deadline.expired())}")


@case("E10", "the deadline passes while the body computes")
async def deadline_without_suspension():
    async def body():
        time.sleep(0.03)
    await in_timeout(0.01, body)
    say(f"next call: {await came_to(sleep(0))}")


@case("E11", "the deadline passes and the body goes on")
async def deadline_that_is_swallowed():
    async def body():
        say(f"sleep: {await came_to(sleep(1))}")
    await in_timeout(0.01, body)
    say(f"next call: {await came_to(sleep(0))}")


@case("E12", "a deadline of now around a body that does not wait")
async def deadline_of_now():
    async def body():
        pass
    await in_timeout(0, body)


# --- gather, wait, as_completed ---

async def bad():
    fails(errno.EIO)


async def returns_one():
    await sleep(0.01)
    return 1


@case("E13", "a call of a gather fails")
async def gather_with_a_failure():
    async def slow():
        say(f"slow call: {await came_to(sleep(0.05))}")
    say(f"gather: {await came_to(asyncio.gather(bad(), slow()))}")
    await sleep(0.1)


@case("E14", "a call of a gather that keeps going fails")
async def gather_that_keeps_going():
    results = await asyncio.gather(bad(), returns_one(), return_exceptions=True)
    say("gather: " + ", ".join(word(one) if isinstance(one, Exception) else str(one)
                               for one in results))


@case("E15", "a task that waits for a gather that keeps going is cancelled")
async def gather_that_keeps_going_is_cancelled():
    async def body():
        await asyncio.gather(returns_one(), returns_one(), return_exceptions=True)
    task = create_task(body())
    await sleep(0)
    task.cancel()
    say(f"gather: {await came_to(task)}")


@case("E16", "a task that waits for a gather is cancelled, and its calls return all the same")
async def gather_whose_calls_swallow_the_cancel():
    async def stubborn():
        say(f"call: {await came_to(sleep(1))}")
        return 1

    async def body():
        await asyncio.gather(stubborn(), stubborn())
    task = create_task(body())
    await sleep(0)
    await sleep(0)
    task.cancel()
    say(f"gather: {await came_to(task)}")


@case("E17", "the time of a wait runs out")
async def wait_that_times_out():
    task = create_task(sleep(0.2))
    done, pending = await asyncio.wait([task], timeout=0.01)
    say(f"done: {len(done)}, pending: {len(pending)}")
    say(f"task: {await came_to(task)}")


@case("E18", "a task that waits for a task is cancelled")
async def wait_that_is_cancelled():
    task = create_task(sleep(0.2))

    async def body():
        await asyncio.wait([task])
    waiter = create_task(body())
    await sleep(0)
    waiter.cancel()
    say(f"wait: {await came_to(waiter)}")
    say(f"task: {await came_to(task)}")


@case("E27", "the time of an as_completed runs out")
async def as_completed_that_times_out():
    async def takes(seconds, value):
        await sleep(seconds)
        return value
    tasks = [create_task(takes(0.01, 1)), create_task(takes(1, 2))]
    try:
        for future in asyncio.as_completed(tasks, timeout=0.05):
            say(f"completed: {await future}")
    except TimeoutError:
        say("as_completed: timed out")
    say(f"other task: {await came_to(tasks[1])}")


# --- the order of things ---

@case("E19", "three tasks give way twice each")
async def round_robin():
    async def body(i):
        say(f"{i} starts")
        await sleep(0)
        say(f"{i} goes on")
        await sleep(0)
        say(f"{i} ends")
    await asyncio.gather(*(body(i) for i in range(3)))


@case("E20", "calls of the loop: soon, later, in the past, and one that asks for another")
async def order_of_calls():
    loop = get_running_loop()
    loop.call_soon(say, "soon, the first")
    loop.call_later(0, say, "later by 0")
    loop.call_soon(say, "soon, the second")
    loop.call_later(-5, say, "later by -5")
    loop.call_soon(lambda: loop.call_soon(say, "soon, asked for by a call"))
    await sleep(0.01)


@case("E21", "the callbacks of a future")
async def callbacks_of_a_future():
    future = get_running_loop().create_future()
    future.add_done_callback(lambda _: say("first callback"))
    future.add_done_callback(lambda _: say("second callback"))
    future.set_result(0)
    say("the future is set")
    await sleep(0)


# --- groups of tasks ---

async def in_group(body):
    result = "passed"
    try:
        async with asyncio.TaskGroup() as group:
            await body(group)
    except (BaseExceptionGroup, CancelledError) as error:
        result = word(error)
    say(f"scope: {result}")


@case("E22", "a task fails, and another one fails while it cleans up")
async def failure_and_failure_in_cleanup():
    async def cleans_up_badly():
        try:
            await sleep(10)
        except CancelledError:
            fails(errno.ENOENT)

    async def body(group):
        group.create_task(bad())
        group.create_task(cleans_up_badly())
        try:
            await sleep(10)
        except CancelledError:
            say("body: cancelled")
            raise
    await in_group(body)
    say(f"next call: {await came_to(sleep(0))}")


@case("E23", "a task fails, and the body goes on")
async def body_that_swallows_the_cancel():
    async def body(group):
        group.create_task(bad())
        say(f"sleep: {await came_to(sleep(10))}")
        say(f"second sleep: {await came_to(sleep(0.01))}")
    await in_group(body)


@case("E24", "a task that waits for a group is cancelled, and its task returns all the same")
async def task_that_swallows_the_cancel():
    async def stubborn():
        say(f"sleep: {await came_to(sleep(10))}")
        return 1

    async def parent():
        async with asyncio.TaskGroup() as group:
            group.create_task(stubborn())
    task = create_task(parent())
    await sleep(0)
    await sleep(0)
    task.cancel()
    say(f"parent: {await came_to(task)}")


@case("E25", "a task of a group is cancelled")
async def one_task_is_cancelled():
    async def body(group):
        task = group.create_task(sleep(10))
        await sleep(0)
        task.cancel()
        await asyncio.wait([task])
        say(f"task: {'cancelled' if task.cancelled() else 'done'}")
        say(f"body: {await came_to(sleep(0))}")
    await in_group(body)


@case("E26", "a task that waits for something shielded is cancelled")
async def shield():
    async def inner():
        await sleep(0.02)
        say("inner: done")

    async def outer():
        await asyncio.shield(inner())
        await sleep(0)
    task = create_task(outer())
    await sleep(0)
    task.cancel()
    say(f"outer: {await came_to(task)}")
    await sleep(0.05)


# --- runs ---

def run(main, **how):
    try:
        result = asyncio.run(main(), **how)
    except BaseException as error:
        result = word(error)
    say(f"run: {result}")


def kill_later(seconds):
    get_running_loop().call_later(seconds, os.kill, os.getpid(), signal.SIGINT)


@case("S1", "SIGINT", run=True)
async def one_signal():
    async def background():
        try:
            await sleep(10)
        except CancelledError:
            say("background: cancelled")
            raise
    create_task(background())
    kill_later(0.05)
    try:
        await sleep(10)
    except CancelledError:
        say("main: cancelled")
        say(f"cleanup: {await came_to(sleep(0.01))}")
        raise


@case("S2", "SIGINT, and main returns all the same", run=True)
async def signal_that_is_swallowed():
    kill_later(0.05)
    say(f"main: {await came_to(sleep(10))}")
    return 7


@case("S3", "SIGINT twice", run=True)
async def two_signals():
    kill_later(0.02)
    kill_later(0.05)
    try:
        await sleep(10)
    except CancelledError:
        say("main: cancelled")
        say(f"cleanup: {await came_to(sleep(10))}")
        raise


@case("S4", "a task ends the process", run=True)
async def task_that_exits():
    async def body():
        raise SystemExit(3)
    task = create_task(body())
    try:
        await sleep(1)
    except CancelledError:
        say("main: cancelled")
        raise
    return task


def report_failures():
    """Failures that nobody waits for become a line of the trace."""
    def handler(_, context):
        error = context.get("exception")
        say(f"report: {word(error) if error else context['message']}")
    get_running_loop().set_exception_handler(handler)


@case("S5", "a call of the loop fails", run=True)
async def callback_that_fails():
    report_failures()
    get_running_loop().call_soon(fails, errno.EIO)
    say(f"main: {await came_to(sleep(0.01))}")
    return 1


@case("S6", "a task without a waiter fails", run=True)
async def failure_nobody_waits_for():
    report_failures()
    create_task(bad())
    await sleep(0.01)
    gc.collect()
    return 1


@case("S6b", "a future that failed is thrown away", run=True)
async def future_nobody_looked_at():
    report_failures()
    future = get_running_loop().create_future()
    future.set_exception(OSError(errno.EIO, "x"))
    del future
    gc.collect()
    return 1


@case("S6c", "a task and a future that failed are cancelled then", run=True)
async def failure_that_is_cancelled():
    report_failures()
    task = create_task(bad())
    await asyncio.wait([task])
    task.cancel()
    del task
    say("the task is forgotten")
    future = get_running_loop().create_future()
    future.set_exception(OSError(errno.EIO, "x"))
    future.cancel()
    del future
    gc.collect()
    say("the future is forgotten")
    return 1


@case("S7", "a task keeps the loop", run={"debug": True})
async def task_that_keeps_the_loop():
    import logging

    class Handler(logging.Handler):
        def emit(self, record):
            if "took" in record.getMessage():
                say("report: a task keeps the loop")
    logger = logging.getLogger("asyncio")
    logger.handlers = [Handler()]
    logger.propagate = False
    time.sleep(0.15)
    return 1


@case("S8", "a call of the loop is asked for on another thread", run={"debug": True})
async def call_from_another_thread():
    loop = get_running_loop()

    def other():
        try:
            loop.call_soon(say, "the call is made")
            say("call_soon: passed")
        except RuntimeError as error:
            say(f"call_soon: {word(error)}")
    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    return 1


@case("S9", "the order in which a run ends", run=True)
async def order_of_the_end():
    async def numbers():
        try:
            while True:
                yield 1
        finally:
            say("generator: closed")

    async def background():
        await anext(generator)
        try:
            await sleep(10)
        finally:
            say("background: cancelled")
    generator = numbers()
    KEPT.append(generator)
    create_task(background())
    await sleep(0)
    get_running_loop().run_in_executor(None, lambda: (time.sleep(0.1), say("thread: ended")))
    say("main: returns")
    return 1

KEPT = []


@case("S10", "a task that waits for a thread is cancelled", run=True)
async def thread_that_is_abandoned():
    def job():
        time.sleep(0.1)
        say("thread: ended")
    task = create_task(asyncio.to_thread(job))
    await sleep(0.01)
    task.cancel()
    say(f"call: {await came_to(task)}")
    await sleep(0.2)
    return 1


@case("S11", "a task that is cancelled at the end of the run starts another one", run=True)
async def task_started_at_the_end():
    report_failures()

    async def late():
        say(f"late task: {await came_to(sleep(0.2))}")

    async def background():
        try:
            await sleep(10)
        except CancelledError:
            say("background: cancelled")
            create_task(late())
            raise
    create_task(background())
    await sleep(0)
    return 1


@case("S12", "a task that is cancelled at the end of the run fails", run=True)
async def task_that_fails_at_the_end():
    report_failures()

    async def background():
        try:
            await sleep(10)
        except CancelledError:
            say("background: cancelled")
            fails(errno.EIO)
    create_task(background())
    await sleep(0)
    return 1


@case("S13", "two deadlines, one in the other; a deadline and a cancel in one turn")
async def deadlines_and_a_cancel():
    async def nested():
        try:
            async with asyncio.timeout(0.02) as outer:
                async with asyncio.timeout(0.5) as inner:
                    await sleep(1)
        except TimeoutError:
            say(f"outer scope: timed out; expired: outer {yes(outer.expired())}, "
                f"inner {yes(inner.expired())}")
        say(f"next call: {await came_to(sleep(0))}")
    await create_task(nested())

    async def one():
        try:
            async with asyncio.timeout(0.02) as deadline:
                await sleep(1)
        except (TimeoutError, CancelledError) as error:
            say(f"scope: {word(error)}; expired: {yes(deadline.expired())}")
            raise
    task = create_task(one())
    await sleep(0)
    get_running_loop().call_later(0.02, task.cancel)
    time.sleep(0.05)
    say(f"task: {await came_to(task)}")


# --- locks, semaphores, queues, events, barriers ---

@case("S14", "a lock is released and taken again while another task waits for it")
async def lock_is_fair():
    lock = asyncio.Lock()

    async def other():
        async with lock:
            say("other: has the lock")
    await lock.acquire()
    task = create_task(other())
    await sleep(0)
    lock.release()
    await lock.acquire()
    say("main: has the lock")
    lock.release()
    await task


@case("S15", "a unit is given back and taken again while another task waits for it")
async def semaphore_is_fair():
    semaphore = asyncio.Semaphore(1)

    async def other():
        async with semaphore:
            say("other: has the unit")
    await semaphore.acquire()
    task = create_task(other())
    await sleep(0)
    semaphore.release()
    say(f"a unit is free: {yes(not semaphore.locked())}")
    await semaphore.acquire()
    say("main: has the unit")
    semaphore.release()
    await task


@case("S16", "an item is put and taken again while another task waits for one")
async def queue_item_and_a_waiter():
    queue = asyncio.Queue()

    async def other():
        say(f"other: {await queue.get()}")
    task = create_task(other())
    await sleep(0)
    queue.put_nowait("x")
    try:
        say(f"main: {queue.get_nowait()}")
    except asyncio.QueueEmpty:
        say("main: nothing there")
    await sleep(0)
    say(f"other has ended: {yes(task.done())}")
    queue.put_nowait("y")
    await task
    say(f"left: {queue.qsize()}")


@case("S17", "an event is set and cleared while a task waits for it")
async def event_set_and_cleared():
    event = asyncio.Event()

    async def other():
        await event.wait()
        say(f"other: woken; the event is set: {yes(event.is_set())}")
    task = create_task(other())
    await sleep(0)
    event.set()
    event.clear()
    await task


@case("S18", "a barrier of two: a cancelled task, two that meet, abort, reset")
async def barrier():
    two = asyncio.Barrier(2)

    async def waits(name):
        say(f"{name}: {await came_to(two.wait())}")
    task = create_task(waits("a"))
    await sleep(0)
    task.cancel()
    await came_to(task)
    say(f"waiting: {two.n_waiting}, broken: {yes(two.broken)}")
    await asyncio.wait([create_task(waits("b")), create_task(waits("c"))])
    task = create_task(waits("d"))
    await sleep(0)
    await two.abort()
    await task
    await waits("e")
    await two.reset()
    say(f"broken: {yes(two.broken)}")


@case("S19", "a condition is waited for without its lock")
async def condition_without_the_lock():
    condition = asyncio.Condition()
    say(f"wait: {await came_to(condition.wait())}")


@case("S20", "a unit too many is given back")
async def unit_too_many():
    semaphore = asyncio.BoundedSemaphore(1)
    try:
        semaphore.release()
        say("release: passed")
    except ValueError as error:
        say(f"release: {word(error)}")


def main():
    if sys.version_info[:2] != (3, 13):
        sys.exit("cases.py: needs CPython 3.13, whose behaviour is recorded")
    for name, title, function, how in sorted(CASES, key=lambda one: (one[0][0], order(one[0]))):
        say(f"[{name}] {title}")
        wanted = how.get("run")
        if wanted:
            run(function, **(wanted if isinstance(wanted, dict) else {}))
        else:
            asyncio.run(function())
        gc.collect()


def order(name):
    digits = "".join(letter for letter in name if letter.isdigit())
    return int(digits), name


if __name__ == "__main__":
    main()
