// http_server.js - the server of test_http_peers.py in Node; http_server.py describes it.
//
//     http_server.js FOLDER [CERT KEY]
//
// The environment variable H2C has settings, in JSON, of HTTP/2 without TLS.
'use strict';
const crypto = require('crypto');
const fs = require('fs');
const http = require('http');
const http2 = require('http2');

const [folder, cert, key] = process.argv.slice(2);
const EVENTS = 40, EVENTS_AT_ONCE = 10;
let lasts = 0;

function sendEvents(request, response) {
  const begin = Number(request.headers['last-event-id'] ?? -1) + 1;
  if (begin >= EVENTS) {
    response.writeHead(204).end();
    return;
  }
  let text = 'retry: 1\n\n';
  for (let i = begin; i < begin + EVENTS_AT_ONCE; i++) text += `event: tick\nid: ${i}\ndata: line ${i}\n\n`;
  response.writeHead(200, {'Content-Type': 'text/event-stream'});
  if (Math.floor(begin / EVENTS_AT_ONCE) % 2 === 1)
    response.write(text + 'data: half\n', () => request.socket.end());
  else
    response.end(text);
}

function answer(request, response) {
  if (request.method === 'PUT') {
    const digest = crypto.createHash('sha256');
    request.on('data', (piece) => digest.update(piece));
    request.on('end', () => response.end(digest.digest('hex')));
  } else if (request.url === '/expect') {
    let bytes = 0;
    request.on('data', (piece) => { bytes += piece.length; });
    request.on('end', () => response.end(`${bytes} ${request.trailers['x-sum'] ?? 'none'}`));
  } else if (request.url === '/parts') {
    response.writeEarlyHints({link: '</style.css>; rel=preload'});
    response.write('part');
    response.write('part');
    response.addTrailers({'x-sum': '3'});
    response.end('part');
  } else if (request.url === '/last') {
    response.end('last');
    if (++lasts % 300 === 0) request.stream.session.close();
  } else if (request.url === '/events') {
    sendEvents(request, response);
  } else {
    const path = folder + request.url;
    response.setHeader('Content-Length', fs.statSync(path).size);
    const file = fs.createReadStream(path);
    response.on('close', () => file.destroy());  // a client that cancels would leave it open
    file.pipe(response);
  }
}

const files = cert ? {cert: fs.readFileSync(cert), key: fs.readFileSync(key), allowHTTP1: true} : {};
const server = cert ? http2.createSecureServer(files, answer) :
  process.env.H2C ? http2.createServer({settings: JSON.parse(process.env.H2C)}, answer) : http.createServer(answer);
server.on('upgrade', (request, socket, head) => {
  socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n');
  if (head.length > 0) socket.write(head);
  socket.pipe(socket);
});
server.listen(0, '127.0.0.1',
              () => console.log(`listening on ${cert ? 'https' : 'http'}://127.0.0.1:${server.address().port}`));
