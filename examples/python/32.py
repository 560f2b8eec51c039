"""The twin of 32-shield: waiting five seconds for a task that needs ten, and then for its end."""
import asyncio


async def delay(seconds):
    print(f"sleeping for {seconds} second(s)")
    await asyncio.sleep(seconds)
    print(f"finished sleeping for {seconds} second(s)")
    return seconds


async def main():
    task = asyncio.create_task(delay(10))
    try:
        seconds = await asyncio.wait_for(asyncio.shield(task), 5)
    except asyncio.TimeoutError:
        print("Task took longer than five seconds, it will finish soon!")
        seconds = await task
    print(seconds)


asyncio.run(main())
