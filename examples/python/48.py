"""The twin of 48-first-answer: the first good answer wins, and cancels the others."""
import asyncio

MIRRORS = [("the first mirror", 5, True), ("the second mirror", 0.2, False),
           ("the third mirror", 0.5, True)]
STAGGER_S = 1


async def ask(report, name, seconds, works):
    report(f"asking {name}")
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        report(f"{name} is not needed any more")
        raise
    report(f"{name} {'answers' if works else 'has failed'}")
    if not works:
        raise OSError(name)
    return name


async def first_answer(calls):
    """Starts a call when the one before it is late or has failed."""
    waiting, calls = set(), list(calls)
    try:
        while calls or waiting:
            if calls:
                waiting.add(asyncio.create_task(calls.pop(0)))
            done, waiting = await asyncio.wait(waiting, timeout=STAGGER_S if calls else None,
                                               return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                if not task.exception():
                    return task.result()
        raise OSError("no mirror answers")
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        for call in calls:
            call.close()


async def main():
    clock = asyncio.get_running_loop().time
    began = clock()

    def report(text):
        print(f"{clock() - began:.1f} s: {text}")

    print(await first_answer(ask(report, *mirror) for mirror in MIRRORS), "has won")


asyncio.run(main())
