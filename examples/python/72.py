"""The twin of 72-thread-race: the last two seats, sold to threads and to tasks."""
import asyncio
import contextlib
import threading
import time


class Sale:
    """A lock is taken by its `with`; a barrier holds each buyer until both have checked."""

    def __init__(self, lock=None, both_checked=None, pause=0):
        self.seats, self.bookings = 2, 0
        self.lock = lock or contextlib.nullcontext()
        self.both_checked, self.pause = both_checked, pause

    def book_two(self):
        with self.lock:
            if self.seats >= 2:
                if self.both_checked:
                    self.both_checked.wait()
                if self.pause:
                    time.sleep(self.pause)  # no other thread can check meanwhile
                self.seats -= 2
                self.bookings += 1

    async def book_in_task(self):
        self.book_two()  # no `await` inside: no other task can run meanwhile

    def show(self, text):
        plural = "" if self.bookings == 1 else "s"
        print(f"{text}: {self.bookings} booking{plural}")
        print(f"Available seats: {self.seats}")


def sell_to_threads(sale):
    buyers = [threading.Thread(target=sale.book_two) for _ in range(2)]
    for buyer in buyers:
        buyer.start()
    for buyer in buyers:
        buyer.join()
    return sale


async def sell_to_tasks(sale):
    await asyncio.gather(sale.book_in_task(), sale.book_in_task())
    return sale


racing = Sale(both_checked=threading.Barrier(2))
sell_to_threads(racing).show("two threads without a lock")
sell_to_threads(Sale(lock=threading.Lock(), pause=0.1)).show("two threads with a mutex")
asyncio.run(sell_to_tasks(Sale())).show("two tasks without a lock")
