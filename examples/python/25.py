"""The twin of 25-thread-pool: a long computation, divided among the processors."""
import asyncio
from concurrent.futures import ProcessPoolExecutor

PARTS, COUNT = 4, 1_000_000


def sum_squares(first, end):
    return sum(i * i for i in range(first, end))


async def main():
    loop = asyncio.get_running_loop()
    with ProcessPoolExecutor() as pool:
        sums = await asyncio.gather(*(
            loop.run_in_executor(pool, sum_squares, COUNT * i // PARTS, COUNT * (i + 1) // PARTS)
            for i in range(PARTS)))
    print(sum(sums))


if __name__ == "__main__":
    asyncio.run(main())
