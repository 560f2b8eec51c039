// http2_client_go - net/http as a client of HTTP/2.
//
//	http2_client_go URL REQUESTS CONNECTIONS STREAMS
//
// Each of CONNECTIONS transports has STREAMS goroutines; certificates are not checked.
package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
)

var left, answered int64

func fetch(client *http.Client, url string) {
	for atomic.AddInt64(&left, -1) >= 0 {
		response, err := client.Get(url)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		_, err = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != 200 || response.ProtoMajor != 2 {
			fmt.Fprintln(os.Stderr, response.Status, response.Proto, err)
			os.Exit(1)
		}
		atomic.AddInt64(&answered, 1)
	}
}

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: http2_client_go URL REQUESTS CONNECTIONS STREAMS")
		os.Exit(2)
	}
	left, _ = strconv.ParseInt(os.Args[2], 10, 64)
	connections, _ := strconv.Atoi(os.Args[3])
	streams, _ := strconv.Atoi(os.Args[4])
	var group sync.WaitGroup
	for i := 0; i < connections; i++ {
		transport := &http.Transport{
			TLSClientConfig:    &tls.Config{InsecureSkipVerify: true},
			DisableCompression: true,
			Protocols:          new(http.Protocols),
		}
		transport.Protocols.SetHTTP2(true)
		transport.Protocols.SetUnencryptedHTTP2(true)
		client := &http.Client{Transport: transport}
		for j := 0; j < streams; j++ {
			group.Add(1)
			go func() {
				defer group.Done()
				fetch(client, os.Args[1])
			}()
		}
	}
	group.Wait()
	fmt.Printf("{\"ok\": %d}\n", answered)
}
