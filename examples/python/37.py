"""The twin of 37-two-greeters: two threads that main does not wait for."""
import threading
import time


def greet(name):
    for number in range(1, 11):
        print(f"{number} - Hello {name}\n", end="")  # one write: print() adds "\n" in a second one
        time.sleep(1)


for person in "Mohammad", "Ali":
    threading.Thread(target=greet, args=[person]).start()
print("Task Done !\n", end="")
