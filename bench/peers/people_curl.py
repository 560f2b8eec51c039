"""curl --parallel: a configuration with a part for each request, and a file for each answer.

    people_curl.py IN FOLDER URL CONCURRENCY
"""

import json
import os
import sys


def is_complete(path):
    try:
        with open(path) as file:
            return bool(json.load(file))
    except (OSError, ValueError):
        return False


path_in, folder, url, concurrency = sys.argv[1:5]
os.makedirs(folder, exist_ok=True)
parts = []
for line in open(path_in):
    request = json.loads(line)
    path = f"{folder}/{request['custom_id']}.json"
    if is_complete(path):
        continue
    data = json.dumps(json.dumps(request["body"]))
    parts.append(f'url = "{url}"\njson = {data}\nretry = 5\nfail-with-body\noutput = "{path}"\n')
with open(folder + ".config", "w") as config:
    config.write("next\n".join(parts))
options = ["--parallel", "--parallel-max", concurrency, "--no-progress-meter"]
os.execvp("curl", ["curl", *options, "--config", folder + ".config"])
