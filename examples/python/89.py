"""The twin of 89-close-and-join: a pool of processes that is closed and joined."""
import math
import multiprocessing
import sys

PARTS, COUNT = 4, 50_000_000


def do_math(part):
    first, last = COUNT // PARTS * part + 1, COUNT // PARTS * (part + 1)
    for i in range(first, last + 1):
        math.sqrt(i)
    # In one write: else the lines of two processes may mix.
    sys.stdout.write(f"{first} to {last}: done\n")
    sys.stdout.flush()


def main():
    pool = multiprocessing.Pool(PARTS)
    for part in range(PARTS):
        pool.apply_async(do_math, args=(part,))
    pool.close()
    try:
        pool.apply_async(do_math, args=(0,))
    except ValueError:
        print("no more calls: the process pool is closed")
    pool.join()
    print("all have ended")


if __name__ == "__main__":
    main()
