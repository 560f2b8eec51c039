"""The twin of 20-call-timeout: a call with a limit of one second that would take two."""
import asyncio


async def my_task():
    await asyncio.sleep(2)
    return "Task done"


async def main():
    try:
        print(await asyncio.wait_for(my_task(), 1))
    except asyncio.TimeoutError:
        print("Task did not complete within the specified time.")


asyncio.run(main())
