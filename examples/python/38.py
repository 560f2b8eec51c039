"""The twin of 38-joined-greeters: two threads that main joins."""
import threading
import time


def greet(name):
    for number in range(1, 11):
        print(f"{number} - Hello {name}\n", end="")  # one write: print() adds "\n" in a second one
        time.sleep(1)


greeters = [threading.Thread(target=greet, args=[person]) for person in ("Mohammad", "Ali")]
for greeter in greeters:
    greeter.start()
for greeter in greeters:
    greeter.join()
print("Task Done !")
