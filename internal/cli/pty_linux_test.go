package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolrun/toolrun/internal/cli"
)

// terminal is a pseudoterminal in which a command runs.
type terminal struct {
	t      *testing.T
	master *os.File
	exit   chan int

	mu      sync.Mutex
	arrived *sync.Cond
	shown   bytes.Buffer
	read    int // the number of bytes that the method "expect" has already matched
	late    bool
}

// startInTerminal runs a command in a terminal of the given width.
func startInTerminal(t *testing.T, width uint16, dir string, args ...string) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudoterminals: %v", err)
	}
	fd := int(master.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	x := &terminal{t: t, master: master, exit: make(chan int, 1)}
	x.arrived = sync.NewCond(&x.mu)
	x.resize(width)
	ctx, cancel := context.WithCancel(t.Context())
	go x.follow()
	go func() {
		x.exit <- cli.Main(ctx, cli.Env{
			Args: args, Dir: dir, Stdin: slave, Stdout: slave, Stderr: slave, StdoutTerminal: true, StderrTerminal: true,
		})
	}()
	t.Cleanup(func() {
		cancel()
		_ = slave.Close() // errors after the test do not matter
		_ = master.Close()
	})
	return x
}

// follow collects the output of the terminal.
func (x *terminal) follow() {
	buf := make([]byte, 4096)
	for {
		n, err := x.master.Read(buf)
		x.mu.Lock()
		x.shown.Write(buf[:n])
		x.arrived.Broadcast()
		x.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (x *terminal) resize(width uint16) {
	x.t.Helper()
	if err := unix.IoctlSetWinsize(int(x.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: width}); err != nil {
		x.t.Fatal(err)
	}
}

// press sends keys.
func (x *terminal) press(keys string) {
	x.t.Helper()
	if _, err := x.master.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

// expect waits until the terminal shows a text. The method searches after the previously expected
// text, and returns the output before the found text.
func (x *terminal) expect(text string) string {
	x.t.Helper()
	timer := time.AfterFunc(30*time.Second, func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.late = true
		x.arrived.Broadcast()
	})
	defer timer.Stop()
	x.mu.Lock()
	defer x.mu.Unlock()
	for {
		rest := x.shown.String()[x.read:]
		if before, _, ok := strings.Cut(rest, text); ok {
			x.read += len(before) + len(text)
			return before
		}
		if x.late {
			x.t.Fatalf("the terminal does not show %q; it shows:\n%q", text, rest)
		}
		x.arrived.Wait()
	}
}

// end waits until the command ends and returns the exit code of the command.
func (x *terminal) end() int {
	x.t.Helper()
	select {
	case exit := <-x.exit:
		return exit
	case <-time.After(30 * time.Second):
		x.t.Fatal("the command does not end")
		return -1
	}
}
