"""virtual_twin - runs a program of examples/python/ on a virtual clock.

    virtual_twin.py PROGRAM [ARGUMENT ...]

The loop of asyncio is the real one; if nothing is ready, its clock jumps to the
next timer.  time.sleep() moves the clock.  At the end the time that passed goes
to stderr, in the form that examples/run expects.  A program with threads or
sockets needs the real clock.
"""
import asyncio
import atexit
import datetime
import runpy
import selectors
import sys
import time

BEGAN_WALL = 1_000_000_000.0
real_selector = selectors.DefaultSelector
clock = 0.0


def passed():
    return clock


def move(seconds):
    global clock
    clock += max(0.0, seconds)


class JumpingSelector(real_selector):
    """Waits for no time to pass; moves the clock instead."""

    def select(self, timeout=None):
        events = super().select(0)
        if events:
            return events
        if timeout is None:
            raise RuntimeError("all tasks wait, and nothing can wake them")
        move(timeout)
        return []


class VirtualDatetime(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(BEGAN_WALL + clock, tz)


def say_what_passed():
    print(f"virtual {round(clock * 1e9)} ns", file=sys.stderr)


def main():
    selectors.DefaultSelector = JumpingSelector
    asyncio.BaseEventLoop.time = lambda self: clock
    time.monotonic = time.perf_counter = passed
    time.time = lambda: BEGAN_WALL + clock
    time.sleep = move
    datetime.datetime = VirtualDatetime
    atexit.register(say_what_passed)
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
