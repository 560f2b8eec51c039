"""The twin of 67-callbacks: functions that the loop calls."""
import asyncio


def say(text):
    print("callback:", text)


async def download():
    await asyncio.sleep(1)
    return 5000


async def main():
    loop = asyncio.get_running_loop()
    reported = asyncio.Event()

    def on_downloaded(task):
        say(f"downloaded {task.result()} bytes")
        reported.set()

    loop.call_soon(say, "soon")
    loop.call_later(0.5, say, "half a second later")
    last = loop.call_later(2, say, "last")
    page = asyncio.create_task(download())
    page.add_done_callback(on_downloaded)
    print("run: the callbacks are scheduled")
    await reported.wait()
    last.cancel()
    print("run: the last callback is cancelled")


asyncio.run(main())
