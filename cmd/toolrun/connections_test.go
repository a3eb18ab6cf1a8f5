package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"
)

// slowest is the maximum time that a normal request can take during an attack. The service closes
// an incomplete request after 5 seconds. A normal request that had to wait for an incomplete
// request to be closed would therefore take longer than slowest.
const slowest = 4 * time.Second

// halfRequest connects from the given address, sends half of a request header and calls the
// function "sent". halfRequest returns when the service closes the connection or ctx ends.
func halfRequest(ctx context.Context, from, to string, sent func()) {
	defer sent()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: time.Second}
	c, err := dialer.DialContext(ctx, "tcp", to)
	if err != nil {
		return
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	_, _ = io.WriteString(c, "POST /api/v1/runs HTTP/1.1\r\nHost: a\r\n")
	sent()
	_, _ = io.Copy(io.Discard, c)
}

// Hundreds of incomplete requests without credentials must not block other clients, even if the
// process is limited to 220 open files. In one case, the incomplete requests and the normal
// requests come from the same address. In the other case, incomplete requests come from a different
// address, and whenever one of them is closed, the attacker sends another.
func TestHalfRequestsLeaveRoom(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other addresses of this machine are as on Linux")
	}
	binary, dir := buildToolrun(t), t.TempDir()
	writeFiles(t, dir, countApp)
	keys, key := makeKeys(t, binary, dir)
	limited := filepath.Join(dir, "limited")
	writeFiles(t, dir, map[string]string{"limited": "#!/bin/sh\nulimit -n 220 && exec " + binary + " \"$@\"\n"})
	if out, err := exec.Command("chmod", "700", limited).CombinedOutput(); err != nil {
		t.Fatalf("chmod: %v %s", err, out)
	}
	for name, attack := range map[string]struct {
		from  string
		again bool
	}{"once, from the client's address": {"127.0.0.1", false}, "again and again, from another address": {"127.0.0.2", true}} {
		t.Run(name, func(t *testing.T) {
			s := startServe(t, limited, dir, "--keys", keys, "--db", filepath.Join(t.TempDir(), "memory.db"), "--rate", "0")
			run := func(ctx context.Context, n int) error {
				client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
				response, err := client.Get(s.url + "/healthz")
				if err != nil {
					return err
				}
				_ = response.Body.Close()
				status, err := s.post(ctx, key, "/api/v1/runs", fmt.Sprintf(`{"tool":"count","user_id":"u%d"}`, n), nil, nil)
				http.DefaultClient.CloseIdleConnections() // the next request must use a new connection
				if err == nil && status != http.StatusOK {
					err = fmt.Errorf("the status is %d", status)
				}
				return err
			}
			if err := run(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			var attackers sync.WaitGroup
			defer attackers.Wait()
			defer stop()
			var begun sync.WaitGroup
			begun.Add(400)
			for range 400 {
				attackers.Go(func() {
					halfRequest(ctx, attack.from, s.url[len("http://"):], sync.OnceFunc(begun.Done))
					for attack.again && ctx.Err() == nil {
						time.Sleep(100 * time.Millisecond) // the pause leaves CPU time for the other clients
						halfRequest(ctx, attack.from, s.url[len("http://"):], func() {})
					}
				})
			}
			begun.Wait()
			for n := range 20 {
				begin := time.Now()
				err := run(t.Context(), n)
				if took := time.Since(begin); err != nil || took > slowest {
					t.Fatalf("run %d took %v, %v", n, took, err)
				}
			}
		})
	}
}
