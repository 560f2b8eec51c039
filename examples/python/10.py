"""The twin of 10-cancel-all: a group of tasks that is stopped at once."""
import asyncio


async def fetch(number):
    print(f"Starting {number}")
    try:
        await asyncio.sleep(3)
    except asyncio.CancelledError:
        print(f"Cancelled {number}")
        raise
    print(f"Finished {number}")


async def main():
    tasks = [asyncio.create_task(fetch(number)) for number in range(3)]
    await asyncio.sleep(1)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


asyncio.run(main())
