"""The twin of 05-semaphore: thirty tasks, ten of them at work."""
import asyncio

running = most = done = 0


async def work():
    global running, most, done
    running += 1
    most = max(most, running)
    await asyncio.sleep(1)
    running -= 1
    done += 1


async def guarded(room):
    async with room:
        await work()


async def main():
    room = asyncio.Semaphore(10)
    async with asyncio.TaskGroup() as group:
        for _ in range(30):
            group.create_task(guarded(room))
    print(f"{done} done, {most} at once")


asyncio.run(main())
