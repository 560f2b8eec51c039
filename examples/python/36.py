"""The twin of 36-greeter-thread: a thread greets while main continues."""
import threading
import time


def greet(name):
    for number in range(1, 11):
        print(f"{number} - Hello {name}")
        time.sleep(1)


threading.Thread(target=greet, args=["Mohammad"]).start()
time.sleep(0.5)  # main's own work
print("Task Done !")
