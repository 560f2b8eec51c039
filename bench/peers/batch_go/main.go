// batch_go - a file of requests sent by Go's net/http, in the usual form of such programs.
//
//	batch_go IN OUT CONCURRENCY
//
// A goroutine for each request at a time, which take lines from a channel; one
// Client whose Transport keeps as many connections; retries with a growing
// random wait; and a line of JSON for each answer, by a buffered writer under
// a lock.  Bodies stay as they are (json.RawMessage), and are checked where
// they are written.  bench/run measures the process from its start to its end.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"
)

const attempts = 6

type request struct {
	CustomID string          `json:"custom_id"`
	Method   string          `json:"method"`
	URL      string          `json:"url"`
	Body     json.RawMessage `json:"body"`
}

type response struct {
	StatusCode int             `json:"status_code"`
	Body       json.RawMessage `json:"body"`
}

type fault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type answer struct {
	CustomID string    `json:"custom_id"`
	Response *response `json:"response"`
	Error    *fault    `json:"error"`
}

func isRetried(status int) bool {
	switch status {
	case 408, 409, 429, 500, 502, 503, 504:
		return true
	}
	return false
}

func try(client *http.Client, r *request) (*response, error) {
	post, err := http.NewRequest(r.Method, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	post.Header.Set("Content-Type", "application/json")
	got, err := client.Do(post)
	if err != nil {
		return nil, err
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		return nil, err
	}
	return &response{got.StatusCode, body}, nil
}

func ask(client *http.Client, r *request) *answer {
	for attempt := 1; ; attempt++ {
		got, err := try(client, r)
		if err == nil && (!isRetried(got.StatusCode) || attempt == attempts) {
			return &answer{r.CustomID, got, nil}
		}
		if attempt == attempts {
			return &answer{r.CustomID, nil, &fault{"failed", err.Error()}}
		}
		longest := time.Duration(500<<attempt) * time.Millisecond
		time.Sleep(time.Duration(rand.Int63n(int64(longest))))
	}
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: batch_go IN OUT CONCURRENCY")
		os.Exit(2)
	}
	in, err := os.Open(os.Args[1])
	fail(err)
	out, err := os.Create(os.Args[2])
	fail(err)
	width, err := strconv.Atoi(os.Args[3])
	fail(err)

	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns = width
	transport.MaxIdleConnsPerHost = width
	transport.MaxConnsPerHost = width
	client := &http.Client{Transport: transport, Timeout: 600 * time.Second}
	requests := make(chan []byte)
	writer := bufio.NewWriter(out)
	var mutex sync.Mutex
	var group sync.WaitGroup
	ok := 0
	for i := 0; i < width; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for line := range requests {
				var r request
				fail(json.Unmarshal(line, &r))
				a := ask(client, &r)
				text, err := json.Marshal(a)
				fail(err)
				mutex.Lock()
				writer.Write(append(text, '\n'))
				if a.Response != nil && a.Response.StatusCode == 200 {
					ok++
				}
				mutex.Unlock()
			}
		}()
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		requests <- append([]byte(nil), lines.Bytes()...)
	}
	fail(lines.Err())
	close(requests)
	group.Wait()
	fail(writer.Flush())
	fail(out.Close())
	fmt.Printf("{\"client\": \"net/http %s GOMAXPROCS=%d\", \"ok\": %d}\n", runtime.Version(),
		runtime.GOMAXPROCS(0), ok)
}
