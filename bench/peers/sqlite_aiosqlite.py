"""sqlite_aiosqlite.py FILE commits|inserts|many|reads COUNT - as sqlite_eddy.c, by aiosqlite."""

import asyncio
import json
import sys
import time

import aiosqlite

INSERT = "INSERT INTO t (name, score) VALUES (?, ?)"
SELECT = "SELECT name, score FROM t WHERE id = ?"
ROWS_READ = 10000


async def main():
    path, row, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    async with aiosqlite.connect(path, isolation_level=None) as db:
        for sql in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA foreign_keys = ON",
                    "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, score REAL)", "BEGIN"):
            await db.execute(sql)
        if row == "reads":
            await db.executemany(INSERT, [("name", 1.5)] * ROWS_READ)
        await db.execute("COMMIT")
        wall, cpu = time.monotonic_ns(), time.process_time_ns()
        if row in ("inserts", "many"):
            await db.execute("BEGIN IMMEDIATE")
        if row == "many":
            await db.executemany(INSERT, [("name", 1.5)] * count)
        elif row == "reads":
            for i in range(count):
                async with db.execute(SELECT, (i * 7919 % ROWS_READ + 1,)) as cursor:
                    assert await cursor.fetchone()
        else:
            for _ in range(count):
                await db.execute(INSERT, ("name", 1.5))
        if row in ("inserts", "many"):
            await db.execute("COMMIT")
        wall, cpu = time.monotonic_ns() - wall, time.process_time_ns() - cpu
    print(json.dumps({"peer": f"aiosqlite {aiosqlite.__version__}", "row": row, "ops": count,
                      "cpu_ns": cpu, "wall_ns": wall}))


asyncio.run(main())
