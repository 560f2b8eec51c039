"""The twin of 22-as-completed: results in the order they come."""
import asyncio


async def work(number, seconds):
    await asyncio.sleep(seconds)
    return f"Task {number} done"


async def main():
    for next_result in asyncio.as_completed([work(1, 2), work(2, 1)]):
        try:
            print(await next_result)
        except OSError as error:
            print(error)


asyncio.run(main())
