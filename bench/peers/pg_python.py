"""pg_python.py CONNINFO query|cursor|copy-in|copy-out COUNT asyncio|uvloop - as pg_eddy.c, by asyncpg."""

import asyncio
import json
import sys
import time

import asyncpg

ITEMS, CONNECTIONS, TASKS, WARM_UP, BLOCK_ROWS = 10000, 10, 64, 640, 1000
SELECT_ONE = "select name, score from items where id = $1"
SELECT_ALL = "select id, name, score from items"
COPY_OUT = "select id, 'name of ' || id, id * 0.5 from generate_series(1, $1::int8) id"


async def queries(pool, count):
    numbers = iter(range(count))

    async def task():
        for i in numbers:
            row = await pool.fetchrow(SELECT_ONE, i * 7919 % ITEMS + 1)
            assert row["name"]

    await asyncio.gather(*(task() for _ in range(TASKS)))


async def read_rows(conn):
    count = 0
    async with conn.transaction():
        async for row in conn.cursor(SELECT_ALL, prefetch=1000):
            count += row["id"] > 0
    assert count == ITEMS


async def copy_in(conn, count):
    block = "".join(f"{i}\tname of {i}\t{i}.5\n" for i in range(1, BLOCK_ROWS + 1)).encode()

    async def blocks():
        for _ in range(count // BLOCK_ROWS):
            yield block

    assert await conn.copy_to_table("loaded", source=blocks()) == f"COPY {count}"


async def copy_out(conn, count):
    async def drop(data):
        pass

    assert await conn.copy_from_query(COPY_OUT, count, output=drop) == f"COPY {count}"


async def no_reset(conn):
    """Without it, a pool sends a query after each loan."""


async def main():
    conninfo = dict(part.split("=") for part in sys.argv[1].split())
    row, count = sys.argv[2], int(sys.argv[3])
    unit = {"query": 1, "cursor": ITEMS}.get(row, BLOCK_ROWS)
    count = (count + unit - 1) // unit * unit
    async with asyncpg.create_pool(
        host=conninfo["host"], port=int(conninfo["port"]), user=conninfo["user"], database=conninfo["dbname"],
        min_size=CONNECTIONS, max_size=CONNECTIONS, reset=no_reset,
    ) as pool, pool.acquire() as conn:
        if row == "query":
            await pool.release(conn)
            await queries(pool, WARM_UP)
        else:
            await conn.execute("truncate loaded")
        wall, cpu = time.monotonic_ns(), time.process_time_ns()
        if row == "query":
            await queries(pool, count)
        elif row == "copy-in":
            await copy_in(conn, count)
        elif row == "copy-out":
            await copy_out(conn, count)
        else:
            for _ in range(count // ITEMS):
                await read_rows(conn)
        wall, cpu = time.monotonic_ns() - wall, time.process_time_ns() - cpu
    print(json.dumps({"peer": f"asyncpg {asyncpg.__version__}", "row": row, "ops": count,
                      "cpu_ns": cpu, "wall_ns": wall}))


if sys.argv[4] == "uvloop":
    import uvloop

    uvloop.run(main())
else:
    asyncio.run(main())
