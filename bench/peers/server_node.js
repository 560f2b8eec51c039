// server_node.js - a server of Node's http that answers a short JSON text; see server_eddy.c.
//
//     node server_node.js respond|known|unknown|json [CERT KEY]
//     node server_node.js fields [CERT KEY]   HTTP/2 only, with the header fields of http2_go
//
// Node has no router of its own.
"use strict";

const fs = require("node:fs");
const http = require("node:http");
const http2 = require("node:http2");
const https = require("node:https");

const [way, cert, key] = process.argv.slice(2);
const text = '{"message":"Hello, World!"}';
const type = { "Content-Type": "application/json" };
const typeAndLength = { ...type, "Content-Length": Buffer.byteLength(text) };
const fields = { ...typeAndLength, "Cache-Control": "max-age=3600", "Last-Modified": "Sun, 29 Nov 2026 12:00:00 GMT" };
let answers = 0;

const ways = {
	respond(response) {
		response.writeHead(200, typeAndLength);
		response.end(text);
	},
	fields(response) {
		response.writeHead(200, fields);
		response.end(text);
	},
	known(response) {
		response.writeHead(200, typeAndLength);
		response.write(text);
		response.end();
	},
	unknown(response) {
		response.writeHead(200, type);
		response.write(text);
		response.end();
	},
	json(response) {
		const made = JSON.stringify({ message: "Hello, World!" });

		response.writeHead(200, { ...type, "Content-Length": Buffer.byteLength(made) });
		response.end(made);
	},
};

if (!(way in ways)) {
	console.error("usage: server_node.js respond|known|unknown|json|fields [CERT KEY]");
	process.exit(2);
}

function handle(_request, response) {
	answers++;
	ways[way](response);
}

const options = { keepAliveTimeout: 3600000 };

if (cert)
	Object.assign(options, { cert: fs.readFileSync(cert), key: fs.readFileSync(key) });

const [make, makeSecure] = way === "fields"
	? [http2.createServer, http2.createSecureServer]
	: [http.createServer, https.createServer];
const server = (cert ? makeSecure : make)(options, handle);

server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => console.log(server.address().port));
process.on("SIGTERM", () => {
	console.log(JSON.stringify({ peer: `Node ${process.versions.node}`, ops: answers }));
	process.exit(0);
});
