"""The twin of 73-stop-thread: an event that a thread checks again and again."""
import threading
import time

stop = threading.Event()


def work():
    print("worker: started")
    while not stop.is_set():
        time.sleep(0.05)  # a piece of work
    print("worker: cleans up")


worker = threading.Thread(target=work)
worker.start()
time.sleep(1)
print("main: stops the worker")
stop.set()
worker.join()
print("main: the worker has ended")
