"""The twin of 33-future: a result that is set later, by other code."""
import asyncio


async def set_later(future):
    await asyncio.sleep(1)
    future.set_result(42)


def say_whether_done(future):
    print("Is my future done?", future.done())


async def main():
    future = asyncio.get_running_loop().create_future()
    setter = asyncio.create_task(set_later(future))
    say_whether_done(future)
    result = await future
    say_whether_done(future)
    print(result)
    await setter


asyncio.run(main())
