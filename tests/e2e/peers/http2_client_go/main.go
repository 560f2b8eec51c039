// http2_client_go - the client of test_http2_clients.py in Go; http2_client.py describes it.
//
//	http2_client_go all|drain URL [FILE]
package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"os"
	"strings"
	"time"
)

var (
	transport = &http.Transport{
		TLSClientConfig:       &tls.Config{InsecureSkipVerify: true},
		ForceAttemptHTTP2:     true,
		ExpectContinueTimeout: time.Hour,
	}
	client  = &http.Client{Transport: transport}
	url     = os.Args[2]
	results = map[string]any{"hints": ""}
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func send(ctx context.Context, method, path string, body io.Reader) *http.Response {
	request := must(http.NewRequestWithContext(ctx, method, url+path, body))
	if path == "/sent" {
		request.Header.Set("Expect", "100-continue")
		request.Trailer = http.Header{"X-Sum": {"3"}}
	}
	return must(client.Do(request))
}

func text(response *http.Response) string {
	return string(must(io.ReadAll(response.Body)))
}

func digest(response *http.Response) string {
	sum := sha256.New()
	must(io.Copy(sum, response.Body))
	return fmt.Sprintf("%x", sum.Sum(nil))
}

func all(file string) {
	ctx := httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{
		Got1xxResponse: func(code int, header textproto.MIMEHeader) error {
			results["hints"] = fmt.Sprintf("%d %s", code, header.Get("Link"))
			return nil
		},
		Got100Continue: func() { results["continued"] = true },
	})
	first := send(ctx, "GET", "/", nil)
	results["version"] = first.Proto
	results["get"] = text(first)
	results["post"] = text(send(ctx, "POST", "/sent", io.MultiReader(strings.NewReader("abc"))))
	results["down"] = digest(send(ctx, "GET", "/file", nil))
	results["up"] = digest(send(ctx, "POST", "/echo", must(os.Open(file))))
	parts := send(ctx, "GET", "/parts", nil)
	results["parts"] = text(parts)
	results["trailer"] = parts.Trailer.Get("X-Sum")
	cancelled, cancel := context.WithCancel(context.Background())
	events := send(cancelled, "GET", "/events", nil)
	must(bufio.NewReader(events.Body).ReadString('\n'))
	cancel()
	_, err := io.Copy(io.Discard, events.Body)
	results["cancelled"] = err == context.Canceled
	results["after"] = text(send(ctx, "GET", "/", nil))
	json.NewEncoder(os.Stdout).Encode(results)
}

func drain() {
	paced := send(context.Background(), "GET", "/paced", nil)
	lines := bufio.NewReader(paced.Body)
	fmt.Print(must(lines.ReadString('\n')))
	fmt.Print(must(lines.ReadString('\n')))
	must(io.Copy(os.Stdout, lines))
	fmt.Print(text(send(context.Background(), "GET", "/", nil)))
}

func main() {
	if strings.HasPrefix(url, "http:") && !speakPlain() {
		fmt.Println("Go before 1.24 has no HTTP/2 without TLS")
		os.Exit(77)
	}
	if os.Args[1] == "drain" {
		drain()
	} else {
		all(os.Args[3])
	}
}
