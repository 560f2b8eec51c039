"""The twin of 29-group-errors: requests in a group, failing fast or collecting all failures."""
import asyncio
import sys

import httpx


async def fetch_or_fail(client, url):
    answer = await asyncio.wait_for(client.get(url, timeout=None), 10)
    answer.raise_for_status()
    return answer.status_code


async def first_failure_ends(client, urls):
    tasks = []
    try:
        async with asyncio.TaskGroup() as group:
            tasks += [group.create_task(fetch_or_fail(client, url)) for url in urls]
    except* (httpx.HTTPError, TimeoutError):
        pass
    return tasks


async def all_run(client, urls):
    tasks = [asyncio.create_task(fetch_or_fail(client, url)) for url in urls]
    await asyncio.gather(*tasks, return_exceptions=True)
    return tasks


def described(task):
    if task.cancelled():
        return "cancelled"
    if isinstance(task.exception(), httpx.HTTPStatusError):
        return f"HTTP failure {task.exception().response.status_code}"
    return task.exception() or task.result()


async def main(run, urls):
    async with httpx.AsyncClient() as client:
        tasks = await run(client, urls)
    for url, task in zip(urls, tasks):
        print(f"{url}: {described(task)}")
    return any(task.cancelled() or task.exception() for task in tasks)


wants_all = sys.argv[1:2] == ["--all"]
addresses = sys.argv[2:] if wants_all else sys.argv[1:]
if len(addresses) != 3:
    sys.exit("usage: 29.py [--all] URL URL URL")
sys.exit(asyncio.run(main(all_run if wants_all else first_failure_ends, addresses)))
