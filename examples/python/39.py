"""The twin of 39-enter-cancels: threads check an event to see whether Enter was pressed."""
import queue
import sys
import threading

EACH = 20
END = object()

stop = threading.Event()
items = queue.Queue(maxsize=10)
produced, consumed = [], []


def produce():
    for item in range(EACH):
        if stop.wait(0.1):
            break
        items.put(item)
        produced.append(item)


def consume():
    for item in iter(items.get, END):
        consumed.append(item)


def await_enter():
    if sys.stdin.readline().endswith("\n"):
        print("cancelling your request...")
        stop.set()


# The wait for the key cannot be stopped: only a daemon lets the program end.
threading.Thread(target=await_enter, daemon=True).start()
producers = [threading.Thread(target=produce) for _ in range(2)]
consumer = threading.Thread(target=consume)
for thread in producers + [consumer]:
    thread.start()
for thread in producers:
    thread.join()
items.put(END)
consumer.join()
print(f"{len(produced)} items were produced, {len(consumed)} consumed")
