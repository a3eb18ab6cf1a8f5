// Command toolrun runs small tools that remember things. See toolrun --help.
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
	engines.Main()           // tools run in processes that are this program too
	time.Local = engines.UTC // as in those processes: --inprocess must not change a tool's dates
	os.Exit(run())
}

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the first signal ends the run, a second one the process
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return 5 // what cli.Main answers where the machine is at fault
	}
	return cli.Main(ctx, cli.Env{
		Args: os.Args[1:], Reload: hangups, Dir: dir, Getenv: os.Getenv,
		CacheDir: cacheDir(),
		Stdin:    os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		StdoutTerminal: cli.IsTerminal(os.Stdout), StderrTerminal: cli.IsTerminal(os.Stderr),
	})
}

// hangups listens to SIGHUP, which ends any program that does not.
func hangups() (<-chan os.Signal, func()) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGHUP)
	return asked, func() { signal.Stop(asked) }
}

// cacheDir is where compiled plug-ins are kept, "" where the user has no place for such things.
func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "toolrun")
}
