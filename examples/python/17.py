"""The twin of 17-task-names: cancelling the task that would take too long, by its name."""
import asyncio
import time


async def delay(seconds):
    print(f"delay({seconds=}) started")
    await asyncio.sleep(seconds)
    print(f"delay({seconds=}) finished")


async def main():
    began = time.perf_counter()
    tasks = [asyncio.create_task(delay(seconds), name=f"delay {seconds} sec")
             for seconds in (3, 1, 20000)]
    for task in tasks:
        if task.get_name() == "delay 20000 sec":
            task.cancel()
        else:
            await task
    print(f"elapsed time: {time.perf_counter() - began:.1f} seconds")


asyncio.run(main())
