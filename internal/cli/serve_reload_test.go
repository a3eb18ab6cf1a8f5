package cli_test

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/toolrun/toolrun/internal/cli"
)

// untilText is a stream that cancels a context when a certain text is written.
type untilText struct {
	mu     sync.Mutex
	all    bytes.Buffer
	text   string
	cancel context.CancelFunc
}

func (u *untilText) Write(p []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	n, err := u.all.Write(p)
	if strings.Contains(u.all.String(), u.text) {
		u.cancel()
	}
	return n, err
}

func (u *untilText) String() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.all.String()
}

// TestReloadDuringStart sends a request to reload the app files while a service starts. The service
// must register for such requests before it logs anything, because SIGHUP otherwise ends the
// process. After the start, the service must reload the app files.
func TestReloadDuringStart(t *testing.T) {
	dir := folder(t, map[string]string{"app.yaml": "app: shop\ntools:\n  one: {source: one.js, description: returns one}\n", "one.js": "return 1"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	log := &untilText{text: "the app files were reloaded", cancel: cancel}
	var stdout bytes.Buffer
	reload := func() (<-chan os.Signal, func()) {
		if early := log.String() + stdout.String(); early != "" {
			t.Errorf("before the service registers for requests, it writes %q", early)
		}
		requests := make(chan os.Signal, 1)
		requests <- syscall.SIGHUP
		return requests, func() {}
	}
	exit := cli.Main(ctx, cli.Env{Args: []string{"serve", "--dev", "--inprocess", "--listen", "127.0.0.1:0"}, Dir: dir, Stdout: &stdout, Stderr: log, Reload: reload})
	if exit != 0 || !strings.Contains(log.String(), log.text) {
		t.Errorf("serve ended with %d and logged %s; want a reload", exit, log)
	}
}
