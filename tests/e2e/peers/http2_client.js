// http2_client.js - the clients of test_http2_clients.py in Node, its own or undici; http2_client.py describes them.
//
//     http2_client.js all|drain URL [FILE]
//     http2_client.js --undici FOLDER all URL FILE
'use strict';
const crypto = require('crypto');
const fs = require('fs');
const http2 = require('http2');
const {once} = require('events');

const args = process.argv.slice(2);
const undici = args[0] === '--undici' ? require(args.splice(0, 2)[1]) : null;
const [call, url, file] = args;
const results = {hints: ''};

// ---- Node's own client: a session is one connection ----

let session;

async function connect() {
  session = http2.connect(url, {rejectUnauthorized: false});
  session.on('error', () => {});
  await once(session, 'connect');
}

function open(method, path, headers = {}, options = {}) {
  const request = session.request({':method': method, ':path': path, ...headers}, options);
  request.on('headers', (interim) => { results.hints = `${interim[':status']} ${interim.link}`; });
  request.on('continue', () => { results.continued = true; });
  request.on('trailers', (trailers) => { results.trailer = trailers['x-sum']; });
  return request;
}

async function ask(request, sink) {
  for await (const piece of request) sink(piece);
}

async function text(request) {
  let all = '';
  await ask(request, (piece) => { all += piece; });
  return all;
}

async function digest(request) {
  const sum = crypto.createHash('sha256');
  await ask(request, (piece) => sum.update(piece));
  return sum.digest('hex');
}

async function all() {
  await connect();
  results.version = session.alpnProtocol;
  results.get = await text(open('GET', '/'));
  const sent = open('POST', '/sent', {expect: '100-continue'}, {waitForTrailers: true});
  sent.on('wantTrailers', () => sent.sendTrailers({'x-sum': '3'}));
  sent.on('continue', () => sent.end('abc'));
  results.post = await text(sent);
  results.down = await digest(open('GET', '/file'));
  const echo = open('POST', '/echo');
  fs.createReadStream(file).pipe(echo);
  results.up = await digest(echo);
  results.parts = await text(open('GET', '/parts'));
  const events = open('GET', '/events');
  await once(events, 'data');
  events.close(http2.constants.NGHTTP2_CANCEL);
  await once(events, 'close');
  results.cancelled = true;
  results.after = await text(open('GET', '/'));
  console.log(JSON.stringify(results));
  session.close();
}

async function drain() {
  await connect();
  let over = false;
  session.on('goaway', () => { over = true; });
  await ask(open('GET', '/paced'), (piece) => process.stdout.write(piece));
  if (over || session.closed) await connect();
  process.stdout.write(await text(open('GET', '/')));
  session.close();
}

// ---- undici ----

async function undiciAll() {
  const agent = new undici.Agent({allowH2: true, connect: {rejectUnauthorized: false}});
  const send = (method, path, options = {}) => undici.request(url + path, {method, dispatcher: agent, ...options});
  results.get = await (await send('GET', '/')).body.text();
  results.post = await (await send('POST', '/sent', {body: 'abc'})).body.text();
  results.down = await digest((await send('GET', '/file')).body);
  results.up = await digest((await send('POST', '/echo', {body: fs.createReadStream(file)})).body);
  const parts = await send('GET', '/parts');
  results.parts = await parts.body.text();
  await new Promise(setImmediate);
  results.trailer = parts.trailers['x-sum'];
  const abort = new AbortController();
  const events = await send('GET', '/events', {signal: abort.signal});
  await once(events.body, 'data');
  abort.abort();
  await once(events.body, 'error').catch(() => {});
  results.cancelled = true;
  results.after = await (await send('GET', '/')).body.text();
  console.log(JSON.stringify(results));
  await agent.destroy();
}

(undici ? undiciAll : call === 'drain' ? drain : all)();
