"""The twin of 104-stored-jobs: five workers store their results in PostgreSQL."""
import asyncio
import sys

import asyncpg

WORKERS, CONNECTIONS, SENTINEL = 5, 3, None


async def work(jobs, pool, done):
    while (job := await jobs.get()) is not SENTINEL:
        try:
            await pool.execute("insert into results values ($1, $2)", job, job * job)
            done["stored"] += 1
        except asyncpg.IntegrityConstraintViolationError as error:
            print(f"Error in job {job}: {error.sqlstate}, {error.constraint_name}")
            done["failed"] += 1
        finally:
            jobs.task_done()
    jobs.task_done()


async def main(dsn):
    jobs, done = asyncio.Queue(maxsize=100), {"stored": 0, "failed": 0}
    async with asyncpg.create_pool(dsn, min_size=0, max_size=CONNECTIONS) as pool:
        async with asyncio.TaskGroup() as group:
            for _ in range(WORKERS):
                group.create_task(work(jobs, pool, done))
            for job in range(250):
                await jobs.put(job)
            for _ in range(WORKERS):
                await jobs.put(SENTINEL)
            await jobs.join()
        print(f"{done['stored']} results stored, {done['failed']} failed, "
              f"{pool.get_size()} connections")


if len(sys.argv) != 2:
    sys.exit("usage: 104.py DSN")
asyncio.run(main(sys.argv[1]))
