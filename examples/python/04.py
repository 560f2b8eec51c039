"""The twin of 04-gather: three waits at the same time."""
import asyncio


async def task(number):
    await asyncio.sleep(1)
    return f"Task {number} done"


async def main():
    print(await asyncio.gather(*(task(number) for number in (1, 2, 3))))


asyncio.run(main())
