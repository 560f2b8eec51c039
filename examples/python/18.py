"""The twin of 18-task-group: a block that ends when all its tasks have ended."""
import asyncio


async def work(name, seconds):
    await asyncio.sleep(seconds)
    print(f"Task {name} completed after {seconds} seconds")


async def main():
    async with asyncio.TaskGroup() as group:
        for name, seconds in (("A", 1), ("B", 2), ("C", 3)):
            group.create_task(work(name, seconds))
        print("All tasks created")
    print("All tasks completed")


asyncio.run(main())
