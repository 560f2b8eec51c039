"""The twin of 24-to-thread: a function that blocks, on a thread of its own."""
import asyncio
import time


def blocking_task():
    time.sleep(2)
    return "Completed"


async def tick():
    for _ in range(3):
        await asyncio.sleep(0.5)
        print("tick")


async def main():
    print("Start blocking task")
    text, _ = await asyncio.gather(asyncio.to_thread(blocking_task), tick())
    print(text)


asyncio.run(main())
