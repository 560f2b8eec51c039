"""The twin of 27-service: a service that reports when it starts and stops, and why."""
import asyncio
import logging
import sys


async def work(seconds):
    await asyncio.sleep(seconds)


async def service(seconds):
    logging.info("Service started")
    await work(seconds)
    logging.info("Service stopped cleanly")


if len(sys.argv) != 2:
    sys.exit("usage: 27.py SECONDS")
logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
try:
    asyncio.run(service(float(sys.argv[1])))
except KeyboardInterrupt:
    logging.info("Stopped by Ctrl-C")
