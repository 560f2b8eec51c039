"""The twin of 68-first-of-several: the first task to finish, and the others cancelled."""
import asyncio


async def ask(seconds):
    await asyncio.sleep(seconds)
    return seconds


async def main():
    tasks = [asyncio.create_task(ask(seconds), name=name)
             for name, seconds in (("Kyiv", 1), ("Lviv", 3), ("Odesa", 2))]
    done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()
    await asyncio.wait(pending)
    print(f"finished: {len(done)} of {len(tasks)}")
    for task in tasks:
        print(f"{task.get_name()} was cancelled" if task.cancelled()
              else f"{task.get_name()} answered after {task.result()} s")


asyncio.run(main())
