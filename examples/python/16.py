"""The twin of 16-tasks: the same three waits as tasks take as long as the longest."""
import asyncio
import time


async def delay(seconds):
    print(f"delay ({seconds=}) started")
    await asyncio.sleep(seconds)
    print(f"delay ({seconds=}) finished")


async def main():
    began = time.perf_counter()
    first, second, third = [asyncio.create_task(delay(seconds)) for seconds in (1, 3, 2)]
    print("before first await")
    await first
    print("after first_task")
    await second
    print("after second_task")
    await third
    print(f"elapsed time: {time.perf_counter() - began:.1f} seconds")


asyncio.run(main())
