"""The twin of 09-cancel: a task that is asked to stop, and joined."""
import asyncio


async def slow_task():
    print("Starting task")
    try:
        await asyncio.sleep(5)
    except asyncio.CancelledError:
        print("Task was cancelled")
        raise  # a task that returns here has swallowed its cancel
    print("Task completed successfully")


async def main():
    task = asyncio.create_task(slow_task())
    await asyncio.sleep(2)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()


asyncio.run(main())
