// http2_go - a server of net/http that speaks HTTP/2 and answers a short JSON text with the header
// fields that nghttpd sends for a file, but Server.
//
//	http2_go fields [CERT KEY]   without a certificate: HTTP/2 by prior knowledge
//
// Prints its port, serves until SIGTERM, and then prints how many requests it answered.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"
)

var body = []byte(`{"message":"Hello, World!"}`)
var answers int64

func respond(w http.ResponseWriter, _ *http.Request) {
	atomic.AddInt64(&answers, 1)
	header := w.Header()
	header["Content-Type"] = []string{"application/json"}
	header["Cache-Control"] = []string{"max-age=3600"}
	header["Last-Modified"] = []string{"Sun, 29 Nov 2026 12:00:00 GMT"}
	w.Write(body)
}

func main() {
	if (len(os.Args) != 2 && len(os.Args) != 4) || os.Args[1] != "fields" {
		fmt.Fprintln(os.Stderr, "usage: http2_go fields [CERT KEY]")
		os.Exit(2)
	}
	server := &http.Server{Handler: http.HandlerFunc(respond), Protocols: new(http.Protocols)}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	if len(os.Args) == 4 {
		server.Protocols.SetHTTP2(true)
		go server.ServeTLS(listener, os.Args[2], os.Args[3])
	} else {
		server.Protocols.SetUnencryptedHTTP2(true)
		go server.Serve(listener)
	}
	<-ended
	fmt.Printf("{\"peer\": \"net/http %s\", \"ops\": %d}\n", runtime.Version(), atomic.LoadInt64(&answers))
}
