"""The twin of 23-wait: what is ready after one and a half seconds, and what is not."""
import asyncio


async def work(number, seconds):
    await asyncio.sleep(seconds)
    return f"Task {number} done"


async def main():
    tasks = [asyncio.create_task(work(1, 2)), asyncio.create_task(work(2, 1))]
    done, pending = await asyncio.wait(tasks, timeout=1.5)
    for task in done:
        print(task.result())
    for task in pending:
        task.cancel()


asyncio.run(main())
