"""The twin of 21-gather-timeout: five seconds for two calls together."""
import asyncio


async def work(seconds):
    await asyncio.sleep(seconds)
    return f"took {seconds} s"


def result_of(task):
    return "was cancelled" if task.cancelled() else task.result()


async def both_within_five(f_seconds, g_seconds):
    f, g = asyncio.create_task(work(f_seconds)), asyncio.create_task(work(g_seconds))
    try:
        await asyncio.wait_for(asyncio.gather(f, g), 5)
    except asyncio.TimeoutError:
        print("oops took longer than 5s!")
    print(f"f {result_of(f)}, g {result_of(g)}")


async def main():
    await both_within_five(1, 2)
    await both_within_five(4, 6)


asyncio.run(main())
