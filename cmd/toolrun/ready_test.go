package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// ready returns the response of /readyz.
func (s *serving) ready(t *testing.T) string {
	t.Helper()
	response, err := http.Get(s.url + "/readyz")
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d %s", response.StatusCode, strings.TrimSpace(string(text)))
}

// A service that is stopping is not ready but still answers requests for a while.
func TestLinger(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("processes get no signals here")
	}
	binary, dir := buildToolrun(t), t.TempDir()
	writeFiles(t, dir, countApp)
	keys, key := makeKeys(t, binary, dir)
	s := startServe(t, binary, filepath.Join(dir, "app.yaml"), "--inprocess", "--keys", keys, "--linger", "2s")
	if got := s.ready(t); got != "200 ready" {
		t.Errorf("/readyz = %s; want 200 ready", got)
	}
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	got := s.ready(t)
	for got == "200 ready" { // wait until the signal has arrived
		got = s.ready(t)
	}
	if got != "503 stopping" {
		t.Errorf("/readyz of a stopping service = %s; want 503 stopping", got)
	}
	status, err := s.post(t.Context(), key, "/api/v1/runs", `{"tool":"count","user_id":"ann"}`, nil, nil)
	if err != nil || status != http.StatusOK {
		t.Errorf("a run at a stopping service = %d, %v; want 200", status, err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("the service ended with %v\n%s", err, s.stderr)
	}
	if got := s.ready(t); strings.HasPrefix(got, "200") || strings.HasPrefix(got, "503") {
		t.Errorf("/readyz of a stopped service = %s", got)
	}
}

// A service whose disk has less free space than required is not ready.
func TestNotReadyWithoutRoom(t *testing.T) {
	binary, dir := buildToolrun(t), t.TempDir()
	writeFiles(t, dir, countApp)
	keys, _ := makeKeys(t, binary, dir)
	s := startServe(t, binary, filepath.Join(dir, "app.yaml"), "--inprocess", "--keys", keys, "--linger", "0s", "--min-free", "90000000GiB")
	if got := s.ready(t); !strings.HasPrefix(got, "503 the disk is full") || strings.Contains(got, dir) {
		t.Errorf("/readyz = %s; want 503 and that the disk is full", got)
	}
}
