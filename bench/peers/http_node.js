// undici, Node's own HTTP client, with a connection for each request under way.
//
//     node http_node.js URL REQUESTS CONNECTIONS
//
// As its documentation advises: one Pool for the origin, without pipelining, and request(), its
// fastest interface that gives a body.  Each body is read to its end.  With https the server is
// verified by SSL_CERT_FILE.  undici is found by NODE_PATH.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const undici = require('undici');

const [address, requestsText, widthText] = process.argv.slice(2);
const url = new URL(address);
const requests = Number(requestsText);
const width = Number(widthText);
const version = require(path.join(path.dirname(require.resolve('undici')), 'package.json')).version;

let started = 0;
let done = 0;
let ok = 0;
let opened = 0;
let bodyBytes = -1; // of every body, learned from the first

async function worker(pool) {
  while (started < requests) {
    started++;
    const { statusCode, body } = await pool.request({ path: url.pathname, method: 'GET' });
    const bytes = (await body.arrayBuffer()).byteLength;
    if (bodyBytes < 0) bodyBytes = bytes;
    if (statusCode === 200 && bytes === bodyBytes) ok++;
    done++;
  }
}

async function main() {
  const cpu = process.cpuUsage();
  const wall = process.hrtime.bigint();
  const connect = url.protocol === 'https:' ? { ca: fs.readFileSync(process.env.SSL_CERT_FILE) } : {};
  const pool = new undici.Pool(url.origin, { connections: width, pipelining: 1, connect });

  pool.on('connect', () => opened++);
  await Promise.all(Array.from({ length: width }, () => worker(pool)));
  const used = process.cpuUsage(cpu);
  console.log(JSON.stringify({
    client: `undici ${version}, Node ${process.version}`,
    requests: done,
    ok,
    connections: opened,
    cpu_ns: (used.user + used.system) * 1000,
    wall_ns: Number(process.hrtime.bigint() - wall),
  }));
  await pool.close();
}

main();
