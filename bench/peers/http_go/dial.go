package main

import (
	"context"
	"net"
	"sync/atomic"
)

// countDials counts the connections that the Transport opens.
func countDials(dialer *net.Dialer, opened *int64) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		atomic.AddInt64(opened, 1)
		return dialer.DialContext(ctx, network, address)
	}
}
