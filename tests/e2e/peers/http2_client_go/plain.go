//go:build go1.24

package main

import "net/http"

// speakPlain lets http URLs use HTTP/2 by prior knowledge.  It returns whether it can.
func speakPlain() bool {
	transport.Protocols = new(http.Protocols)
	transport.Protocols.SetUnencryptedHTTP2(true)
	return true
}
