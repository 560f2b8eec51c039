"""The twin of 66-event: three workers that wait until a fourth task has loaded the settings."""
import asyncio


class Settings:
    def __init__(self):
        self.loaded = asyncio.Event()
        self.port = None

    async def load(self):
        await asyncio.sleep(2)
        self.port = 8080
        print("the settings are loaded")
        self.loaded.set()


async def use_settings(number, settings):
    await settings.loaded.wait()
    print(f"worker {number} uses port {settings.port}")


async def work(number, settings):
    print(f"worker {number} waits")
    await use_settings(number, settings)


async def work_late(number, settings):
    await asyncio.sleep(3)
    print(f"worker {number} is late")
    await use_settings(number, settings)


async def main():
    settings = Settings()
    async with asyncio.TaskGroup() as group:
        for number in (1, 2, 3):
            group.create_task(work(number, settings))
        group.create_task(work_late(4, settings))
        group.create_task(settings.load())


asyncio.run(main())
