"""litellm's acompletion(), which retries by itself, as its documentation shows it for many calls.

    people_litellm.py IN OUT URL CONCURRENCY
"""

import asyncio
import json
import os
import sys

import litellm

litellm.suppress_debug_info = True


def answered(path):
    """The ids that the output has."""
    if not os.path.exists(path):
        return set()
    with open(path) as lines:
        return {json.loads(line)["custom_id"] for line in lines}


async def main(path_in, path_out, url, concurrency):
    done = answered(path_out)
    semaphore = asyncio.Semaphore(concurrency)

    with open(path_in) as file_in, open(path_out, "a") as file_out:

        async def work(request):
            body = request["body"]
            async with semaphore:
                response = await litellm.acompletion(
                    model="openai/" + body["model"],
                    messages=body["messages"],
                    api_base=url.removesuffix("/chat/completions"),
                    api_key="none",
                    num_retries=5,
                )
            line = {"custom_id": request["custom_id"], "response": {"body": response.model_dump()}}
            print(json.dumps(line), file=file_out, flush=True)

        requests = [json.loads(line) for line in file_in]
        await asyncio.gather(*(work(r) for r in requests if r["custom_id"] not in done))


asyncio.run(main(*sys.argv[1:4], int(sys.argv[4])))
