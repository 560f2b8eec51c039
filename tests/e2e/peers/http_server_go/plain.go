//go:build go1.24

package main

import "net/http"

// speakPlain makes the server take HTTP/2 without TLS.  It returns whether it can.
func speakPlain(server *http.Server) bool {
	server.Protocols = new(http.Protocols)
	server.Protocols.SetUnencryptedHTTP2(true)
	server.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 10}
	return true
}
