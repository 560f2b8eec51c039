"""The twin of 81-own-loop: a loop that the program makes, runs three times and closes."""
import asyncio


def say_whether_a_loop_runs(when):
    try:
        asyncio.get_running_loop()
        print(f"{when}: a loop runs")
    except RuntimeError:
        print(f"{when}: no loop runs")


async def wait_a_little(when):
    say_whether_a_loop_runs(when)
    await asyncio.sleep(0.1)


def stop(loop):
    say_whether_a_loop_runs("stopped by a callback")
    loop.stop()


say_whether_a_loop_runs("at first")
own_loop = asyncio.new_event_loop()
say_whether_a_loop_runs("made")
own_loop.run_until_complete(wait_a_little("first run"))
own_loop.run_until_complete(wait_a_little("second run"))
own_loop.call_later(0.1, stop, own_loop)
own_loop.run_forever()
own_loop.close()
say_whether_a_loop_runs("closed")
