"""The twin of 31-workers: five workers on a queue of a hundred, ended by five sentinels."""
import asyncio
from collections import Counter

SENTINEL = None


async def do_job(number):
    await asyncio.sleep(0.1)
    if number == 3:
        raise OSError("job 3 fails")


async def work(name, jobs, done):
    while (job := await jobs.get()) is not SENTINEL:
        try:
            await do_job(job)
        except OSError:
            print(f"Error in worker {name} on job {job}")
        finally:
            done[name] += 1
            jobs.task_done()
    jobs.task_done()


async def main():
    jobs, done, most = asyncio.Queue(maxsize=100), Counter(), 0
    names = [f"w{i}" for i in range(5)]
    async with asyncio.TaskGroup() as group:
        for name in names:
            group.create_task(work(name, jobs, done))
        for number in range(250):
            await jobs.put(number)
            most = max(most, jobs.qsize())
        print(f"at most {most} jobs waited")
        for _ in names:
            await jobs.put(SENTINEL)
        await jobs.join()
    for name in names:
        print(f"{name} did {done[name]} jobs")
    print(f"{done.total()} jobs done")


asyncio.run(main())
