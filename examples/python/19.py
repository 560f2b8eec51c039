"""The twin of 19-gather-two: different functions at once, results in order."""
import asyncio


async def task1():
    await asyncio.sleep(1)
    return "Task 1 done"


async def task2():
    await asyncio.sleep(2)
    return "Task 2 done"


async def main():
    print(await asyncio.gather(task1(), task2(), return_exceptions=True))


asyncio.run(main())
