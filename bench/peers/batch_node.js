// A file of requests sent by undici, in the usual form of such scripts.
//
//     node batch_node.js request|fetch IN OUT CONCURRENCY
//
// A worker for each request at a time, which take lines from one iterator; an Agent with as many
// connections and without pipelining; retries with a growing random wait; a line of JSON
// for each answer, by a stream.  undici is found by NODE_PATH.  bench/run measures the process
// from its start to its end.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const readline = require('node:readline');
const { setTimeout: sleep } = require('node:timers/promises');
const undici = require('undici');

const ATTEMPTS = 6;
const RETRIED = new Set([408, 409, 429, 500, 502, 503, 504]);
const HEADERS = { 'content-type': 'application/json' };

const [kind, pathIn, pathOut, width] = process.argv.slice(2);
const concurrency = Number(width);
const agent = new undici.Agent({ connections: concurrency, pipelining: 1 });

async function post(url, body) {
  if (kind === 'fetch') {
    const got = await undici.fetch(url, { method: 'POST', headers: HEADERS, body, dispatcher: agent });
    return { status_code: got.status, body: await got.json() };
  }
  const got = await undici.request(url, { method: 'POST', headers: HEADERS, body, dispatcher: agent });
  return { status_code: got.statusCode, body: await got.body.json() };
}

async function ask(request) {
  const body = JSON.stringify(request.body);
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await post(request.url, body);
      if (!RETRIED.has(response.status_code) || attempt === ATTEMPTS) return { response, error: null };
    } catch (error) {
      if (attempt === ATTEMPTS)
        return { response: null, error: { code: error.code ?? error.name, message: error.message } };
    }
    await sleep(Math.random() * Math.min(60000, 500 * 2 ** attempt));
  }
}

async function main() {
  const lines = readline.createInterface({ input: fs.createReadStream(pathIn), crlfDelay: Infinity });
  const out = fs.createWriteStream(pathOut);
  let ok = 0;

  async function work(line) {
    const request = JSON.parse(line);
    const { response, error } = await ask(request);
    out.write(JSON.stringify({ custom_id: request.custom_id, response, error }) + '\n');
    if (response?.status_code === 200) ok++;
  }

  async function worker(iterator) {
    for (let next; !(next = await iterator.next()).done; ) await work(next.value);
  }

  const iterator = lines[Symbol.asyncIterator]();
  await Promise.all(Array.from({ length: concurrency }, () => worker(iterator)));
  await new Promise((resolve) => out.end(resolve));
  await agent.close();
  const file = path.join(path.dirname(require.resolve('undici')), 'package.json');
  const { version } = JSON.parse(fs.readFileSync(file, 'utf8'));
  console.log(JSON.stringify({ client: `undici ${version}, Node ${process.versions.node}`, ok }));
}

main();
