"""The twin of 45-lock-cycle: two transfers that each hold what the other needs.

Differs: asyncio does not notice that all tasks wait for each other, so a limit of five seconds
    ends the first half here.

Run: 45-lock-cycle
Time: virtual 7 s
Output:
    each takes its own account first:
    no end within 5 s; balances 100 and 100
    both take the first account first:
    done; balances 120 and 80
"""
import asyncio


class Account:
    def __init__(self):
        self.lock = asyncio.Lock()
        self.balance = 100


async def transfer(amount, source, target, order):
    first, second = order
    async with first.lock:
        await asyncio.sleep(1)  # looks whether there is enough on it
        async with second.lock:
            source.balance -= amount
            target.balance += amount


async def transfer_both(a, b, order_of_salary):
    try:
        async with asyncio.timeout(5), asyncio.TaskGroup() as group:
            group.create_task(transfer(30, a, b, (a, b)), name="rent")
            group.create_task(transfer(50, b, a, order_of_salary), name="salary")
        end = "done"
    except TimeoutError:
        end = "no end within 5 s"
    print(f"{end}; balances {a.balance} and {b.balance}")


async def main():
    a, b = Account(), Account()
    print("each takes its own account first:")
    await transfer_both(a, b, (b, a))
    print("both take the first account first:")
    await transfer_both(a, b, (a, b))


asyncio.run(main())
