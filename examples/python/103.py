"""The twin of 103-get-user: a user by number from PostgreSQL: one row or none, through a pool."""
import asyncio
import sys

import asyncpg


async def get_user(pool, number):
    return await pool.fetchrow("select id, name, email from users where id = $1", number)


async def main(dsn, numbers):
    # asyncpg has no overflow, and tests no connection before it is lent.
    async with asyncpg.create_pool(dsn, min_size=0, max_size=30) as pool:
        users = await asyncio.gather(*(get_user(pool, number) for number in numbers))
    for number, user in zip(numbers, users):
        if user:
            print(f"user {user['id']} is {user['name']}, {user['email'] or 'without an address'}")
        else:
            print(f"no user {number}")


if len(sys.argv) < 2:
    sys.exit("usage: 103.py DSN ID...")
try:
    asyncio.run(main(sys.argv[1], [int(number) for number in sys.argv[2:]]))
except (OSError, asyncpg.PostgresError) as error:
    sys.exit(f"103.py: {error}")
