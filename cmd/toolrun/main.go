// Command toolrun runs small tools that can store data. See toolrun --help.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/internal/cli"
)

func main() {
	engines.Main()           // worker processes run this executable
	time.Local = engines.UTC // with --inprocess, tools must see the same dates as in worker processes, which use UTC
	os.Exit(run())
}

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the first signal cancels the run, the second signal kills the process
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return 5 // the exit code of a failure that the host has caused
	}
	return cli.Main(ctx, cli.Env{
		Args: os.Args[1:], Reload: hangups, Dir: dir, Getenv: os.Getenv,
		CacheDir: cacheDir(),
		Stdin:    os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		StdoutTerminal: cli.IsTerminal(os.Stdout), StderrTerminal: cli.IsTerminal(os.Stderr),
	})
}

// hangups returns a channel that receives SIGHUP. Without this channel, the signal SIGHUP would end
// the process.
func hangups() (<-chan os.Signal, func()) {
	requests := make(chan os.Signal, 1)
	signal.Notify(requests, syscall.SIGHUP)
	return requests, func() { signal.Stop(requests) }
}

// cacheDir returns the folder for compiled code, or "" if the user has no cache folder.
func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "toolrun")
}
