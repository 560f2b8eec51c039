"""The twin of 69-blocking-sleep: a sleep that suspends, and a sleep that blocks.

Differs: asyncio reports a step of a task that took too long only in debug mode, and after the
step has ended.
Run: 69-blocking-sleep
Time: wall 2.3 s
Output:
    a sleep that suspends:
      tick
      tick
      slept for a second
    a sleep that blocks:
      slept for a second
      report: a task has kept the loop from other tasks for <n> ms
      tick
      tick
"""
import asyncio
import logging
import time


class Report(logging.Handler):
    def emit(self, record):
        _, seconds = record.args
        print(f"  report: a task has kept the loop from other tasks for {seconds * 1000:.0f} ms")


async def sleep_suspending():
    await asyncio.sleep(1)
    print("  slept for a second")


async def sleep_blocking():
    time.sleep(1)
    print("  slept for a second")


async def tick_twice():
    for _ in range(2):
        await asyncio.sleep(0.3)
        print("  tick")


async def main():
    asyncio.get_running_loop().slow_callback_duration = 0.5
    logging.getLogger("asyncio").addHandler(Report())
    print("a sleep that suspends:")
    await asyncio.gather(tick_twice(), sleep_suspending())
    print("a sleep that blocks:")
    await asyncio.gather(tick_twice(), sleep_blocking())


asyncio.run(main(), debug=True)
