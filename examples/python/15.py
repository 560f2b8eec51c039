"""The twin of 15-one-by-one: three waits in a row take as long as their sum."""
import asyncio
import time


async def delay(seconds):
    print(f"delay ({seconds=}) started")
    await asyncio.sleep(seconds)
    print(f"delay ({seconds=}) finished")


async def main():
    began = time.perf_counter()
    for seconds in (1, 3, 2):
        await delay(seconds)
    print(f"elapsed time: {time.perf_counter() - began:.1f} seconds")


asyncio.run(main())
