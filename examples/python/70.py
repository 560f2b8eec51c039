"""The twin of 70-one-core: a loop that never waits keeps a single core busy."""
import asyncio
import os
import time

times = 0  # that the other task ran


async def other_task():
    global times
    while True:
        await asyncio.sleep(0.05)
        times += 1


def count(x):
    """An endless loop, if it had no limit: a second of processor time."""
    end = time.process_time() + 1
    while time.process_time() < end:
        x += 1
    return x


async def main():
    other = asyncio.create_task(other_task())
    await asyncio.sleep(0)  # the other task starts
    x = count(10)
    print(f"1 of {len(os.sched_getaffinity(0))} processors counted from 10 to {x}")
    print(f"the other task ran {times} times meanwhile")

    x = await asyncio.to_thread(count, 10)
    print(f"a thread counted from 10 to {x}")
    print("the other task ran meanwhile" if times > 0 else "the other task had to wait")
    other.cancel()


# In debug mode a task that kept the loop is reported on stderr when it waits again.
asyncio.run(main(), debug=True)
