// server.js - Node's http as it comes, for tools/request-table: reads the body,
// and answers.
'use strict';

const http = require('http');

const server = http.createServer((request, response) => {
        request.on('error', () => response.destroy());
        request.on('end', () => response.end('ok\n'));
        request.resume();
});

server.on('connect', (request, socket) => {
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
