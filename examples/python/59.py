"""The twin of 59-retry-call: up to five attempts, but only for errors that may be temporary."""
import asyncio
import errno


class Load:
    def __init__(self, fails, error):
        self.attempts, self.fails, self.error = 0, fails, error

    async def __call__(self):
        self.attempts += 1
        if self.attempts <= self.fails:
            raise self.error


async def retry(call, attempts):
    for attempt in range(1, attempts + 1):
        try:
            return await call()
        except ConnectionError as error:  # may pass; other errors are not caught
            if attempt == attempts:
                raise
            print(f"attempt {attempt} failed: {errno.errorcode[error.errno]}")


async def main():
    passing = Load(2, ConnectionRefusedError(errno.ECONNREFUSED, "refused"))
    final = Load(2, OSError(errno.ENOMEM, "no memory"))
    async with asyncio.timeout(10):
        await retry(passing, 5)
        print(f"loaded after {passing.attempts} attempts")
        try:
            await retry(final, 5)
        except OSError as error:
            print(f"gave up: {errno.errorcode[error.errno]}")


asyncio.run(main())
