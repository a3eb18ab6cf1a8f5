package host_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/memory/block"
)

// blockWriters is the number of concurrent writers of one block.
const blockWriters = 64

// crashBlocks replaces a block repeatedly until the process is killed. Each text contains the
// number of its write, and the number of the previous write.
func crashBlocks(h *host.Host, say func(string, ...any)) error {
	for {
		before, err := h.Blocks().Get(context.Background(), ann, "core", false)
		if err != nil {
			return err
		}
		n, update := 1, host.BlockUpdate{Name: "core"}
		if before != nil {
			if _, err := fmt.Sscanf(before.Content, "- %d", &n); err != nil {
				return err
			}
			n++
			update.Expected = block.Expected{Updated: before.Updated}
		}
		update.Content = fmt.Sprintf("- %d\n- after %d", n, n-1) + strings.Repeat("\n- filler", n%18)
		say("try %d", n)
		_, err = h.Blocks().Update(context.Background(), ann, update)
		switch {
		case err == nil:
			say("ack %d", n)
		case !errors.Is(err, abi.Conflict):
			return err
		}
	}
}

// blockLog is the output of a child that writes a block.
type blockLog struct {
	acked         map[int]int // the number of acknowledgements of each write
	tried, newest int
}

// crashBlocksOnce starts a child process. crashBlocksOnce kills the child after some acknowledged
// writes, and reads the rest of the child's output.
func crashBlocksOnce(t *testing.T, path string, after int) blockLog {
	t.Helper()
	cmd, lines := startChild(t, path, "blocks")
	log := blockLog{acked: map[int]int{}}
	killed := false
	for lines.Scan() {
		var what string
		var n int
		if _, err := fmt.Sscan(lines.Text(), &what, &n); err != nil {
			t.Fatalf("unexpected output of the child: %q", lines.Text())
		}
		if what == "ack" {
			log.acked[n]++
			log.newest = max(log.newest, n)
			continue
		}
		log.tried = max(log.tried, n)
		if !killed && len(log.acked) >= after {
			killed = true
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // it was killed
	return log
}

// TestKilledBlockWriters kills processes. In each process, 64 writers change one block by
// compare-and-set. No acknowledged write may be lost. Two writers must never replace the same text.
// Every text must contain the number of the text that it replaced. The stored text must not be
// older than the last acknowledged text. The block must never exceed its limits. The version of the
// block must increase with each write, even after a kill.
func TestKilledBlockWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "crash.db")
	acks, kills, last, between := 0, 0, 0, 0
	var version int64
	for acks < 200 || kills < 5 {
		log := crashBlocksOnce(t, path, 20+rand.IntN(40))
		kills++
		for n, times := range log.acked {
			acks += times
			if times > 1 || n <= last {
				t.Errorf("kill %d: write %d was acknowledged %d times; %d writes had been stored", kills, n, times, last)
			}
		}
		h, closeAll, err := openCrash(path)
		if err != nil {
			t.Fatalf("the database does not open after kill %d: %v", kills, err)
		}
		now, err := h.Blocks().Get(t.Context(), ann, "core", false)
		if err != nil || now == nil {
			t.Fatalf("kill %d: the block is %v, %v", kills, now, err)
		}
		var n, before int
		if _, err := fmt.Sscanf(now.Content, "- %d\n- after %d", &n, &before); err != nil || before != n-1 {
			t.Errorf("kill %d: the text is %q, %v", kills, now.Content, err)
		}
		if n < log.newest || n > log.tried || now.Revision <= version || block.CountEntries(now.Content) > 20 {
			t.Errorf("kill %d: write %d is stored with revision %d; the newest acknowledged write is %d, tried %d, the earlier revision %d", kills, n, now.Revision, log.newest, log.tried, version)
		}
		between += n - last - len(log.acked) // stored, but not acknowledged before the kill
		last, version = n, now.Revision
		if err := closeAll(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d kills of %d writers, %d acknowledged writes, %d writes stored without an acknowledgement: none lost", kills, blockWriters, acks, between)
}
