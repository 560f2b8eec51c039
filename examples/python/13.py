"""The twin of 13-two-clocks: two coroutines that print the date and the time.

Differs: the same seed gives other random numbers in Python, and thus other pauses; and
    the time of day is read for each line, so it goes back if the clock is set back.

Run: 13-two-clocks 1
Time: virtual 52 s
Output:
    Loop: 1 Time: <n>-<n>-<n> <n>:<n>:<n>
    Loop: 2 Time: <n>-<n>-<n> <n>:<n>:<n>
    ...

Run: 13-two-clocks 2 | sort -sc -k 4 && echo no time is before the one above it
Time: virtual 50 s
Output:
    no time is before the one above it

Run: e=$(mktemp); for seed in "" "" 2; do 13-two-clocks $seed 2>$e | cut -c -7 | cksum; done | sort -u | wc -l; cat $e >&2; rm $e
Time: virtual 50 s
Output:
    3
"""
import asyncio
import random
import sys
from datetime import datetime


async def display_date(number):
    now = asyncio.get_running_loop().time
    end = now() + 50
    while True:
        print(f"Loop: {number} Time: {datetime.now()}")
        if now() + 1 >= end:
            return
        await asyncio.sleep(random.randrange(6))


async def main():
    await asyncio.gather(display_date(1), display_date(2))


if len(sys.argv) > 1:
    random.seed(int(sys.argv[1]))
asyncio.run(main())
