"""redis_python.py URL get|set COUNT asyncio|uvloop - as redis_eddy.c, by redis-py with hiredis on 10 connections."""

import asyncio
import json
import sys
import time

import hiredis
import redis
import redis.asyncio

KEYS, CONNECTIONS, TASKS, WARM_UP = 10000, 10, 64, 640
VALUE = b"0123456789abcdef"


async def commands(client, row, count):
    numbers = iter(range(count))

    async def task():
        for i in numbers:
            key = f"key:{i * 7919 % KEYS}"
            if row == "set":
                await client.set(key, VALUE)
            else:
                assert await client.get(key) == VALUE

    await asyncio.gather(*(task() for _ in range(TASKS)))


async def main():
    url, row, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    pool = redis.asyncio.BlockingConnectionPool.from_url(url, max_connections=CONNECTIONS, timeout=None)
    client = redis.asyncio.Redis(connection_pool=pool)
    await commands(client, row, WARM_UP)
    wall, cpu = time.monotonic_ns(), time.process_time_ns()
    await commands(client, row, count)
    wall, cpu = time.monotonic_ns() - wall, time.process_time_ns() - cpu
    await pool.disconnect()
    print(json.dumps({"peer": f"redis-py {redis.__version__}, hiredis {hiredis.__version__}", "row": row,
                      "ops": count, "cpu_ns": cpu, "wall_ns": wall}))


if sys.argv[4] == "uvloop":
    import uvloop

    uvloop.run(main())
else:
    asyncio.run(main())
