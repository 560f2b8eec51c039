"""process_asyncio.py COUNT TASKS - child processes by asyncio while timers tick, as process_eddy.c does."""

import asyncio
import json
import platform
import sys
import time

TIMERS, PERIOD = 1000, 0.1


async def ticking(planned, lags):
    while True:
        await asyncio.sleep(planned - time.monotonic())
        lags.append(time.monotonic() - planned)
        planned += PERIOD


async def starting(left):
    while left[0] > 0:
        left[0] -= 1
        process = await asyncio.create_subprocess_exec("/bin/true")
        if await process.wait():
            sys.exit("/bin/true failed")


async def main():
    count, tasks, lags = int(sys.argv[1]), int(sys.argv[2]), []
    ticks = [asyncio.create_task(ticking(time.monotonic() + PERIOD * (i + 1) / TIMERS, lags))
             for i in range(TIMERS)]
    left = [count]
    wall, cpu = time.monotonic_ns(), time.process_time_ns()
    await asyncio.gather(*(starting(left) for _ in range(tasks)))
    wall, cpu = time.monotonic_ns() - wall, time.process_time_ns() - cpu
    for tick in ticks:
        tick.cancel()
    lags.sort()
    print(json.dumps({"peer": f"asyncio of Python {platform.python_version()}", "row": "process",
                      "ops": count, "cpu_ns": cpu, "wall_ns": wall,
                      "lag_p99_ns": int(lags[len(lags) * 99 // 100] * 1e9),
                      "lag_max_ns": int(lags[-1] * 1e9)}))


asyncio.run(main())
