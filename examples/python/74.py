"""The twin of 74-hundred-threads: a list of threads, started and joined."""
import threading
import time

lock = threading.Lock()
greetings = 0


def greet():
    global greetings
    time.sleep(1)
    with lock:
        greetings += 1


threads = [threading.Thread(target=greet) for _ in range(100)]
for thread in threads:
    thread.start()
print(f"{len(threads)} threads are started")
for thread in threads:
    thread.join()
print(f"{greetings} threads have greeted")
print("Task Done !")
