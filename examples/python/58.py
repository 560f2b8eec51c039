"""The twin of 58-limiter: fifty tasks, never more than ten in any second."""
import asyncio
import collections


class Limiter:
    """At most 'amount' reservations in any second; first come, first served."""

    def __init__(self, amount):
        self.recent = collections.deque([float("-inf")] * amount)
        self.turn = asyncio.Lock()

    async def reserve(self):
        clock = asyncio.get_running_loop().time
        async with self.turn:
            await asyncio.sleep(max(0, self.recent[0] + 1 - clock()))
            self.recent.popleft()
            self.recent.append(clock())


async def request(limiter, seconds, began):
    await limiter.reserve()
    seconds[int(asyncio.get_running_loop().time() - began)] += 1


async def main():
    seconds = collections.Counter()
    limiter = Limiter(10)
    began = asyncio.get_running_loop().time()
    async with asyncio.TaskGroup() as group:
        for _ in range(50):
            group.create_task(request(limiter, seconds, began))
    for second, requests in sorted(seconds.items()):
        print(f"second {second}: {requests} requests")


asyncio.run(main())
