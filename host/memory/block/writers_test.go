package block_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/memory/block"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/bolt"
	"github.com/toolrun/toolrun/host/storage/postgres"
	"github.com/toolrun/toolrun/host/storage/postgres/pgtest"
)

// acknowledged is a write whose writer received a successful reply.
type acknowledged struct {
	expected, revision int64
	content            string
}

// TestWriters starts 64 writers. All writers change the same block by compare-and-set. Each write
// adds one line to the block. Each acknowledged write must replace the acknowledged write before
// it. The stored block must contain the last acknowledged write. No write may be lost.
func TestWriters(t *testing.T) {
	file, err := bolt.Open(filepath.Join(t.TempDir(), "db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	runWriters(t, []*memory.Service{node(t, file, 0)})
}

var cluster pgtest.Cluster

// TestWritersOnNodes is like TestWriters, but two nodes share one PostgreSQL database. The clock of
// one node is behind.
func TestWritersOnNodes(t *testing.T) {
	dsn := cluster.DSN(t)
	var nodes []*memory.Service
	for i := range 2 {
		backend, err := postgres.Open(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer backend.Close()
		nodes = append(nodes, node(t, backend, time.Duration(i)*-3*time.Second))
	}
	runWriters(t, nodes)
}

// node opens the app on a backend. The clock of the app differs from the clock of the system.
func node(t *testing.T, backend storage.Backend, skew time.Duration) *memory.Service {
	t.Helper()
	d := declare.Block{Name: "core", Use: declare.BlockContext, Characters: 400, Entries: 20}
	s, err := memory.New(memory.Config{
		App: "shop", Backend: backend, Stores: []declare.Store{d.Store()}, Now: func() time.Time { return time.Now().Add(skew) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// runWriters starts 64 writers and distributes the writers over the nodes.
func runWriters(t *testing.T, nodes []*memory.Service) {
	const writers, writes = 64, 2
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var mu sync.Mutex
	var all []acknowledged
	conflicts := 0
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for n := 0; n < writes; {
				a, err := appendLine(ctx, nodes[i%len(nodes)], fmt.Sprintf("- %d.%d", i, n))
				mu.Lock()
				switch {
				case err == nil:
					all, n = append(all, a), n+1
				case errors.Is(err, abi.Conflict):
					conflicts++
				default:
					t.Error(err)
					n = writes
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	checkChain(t, nodes[0], all, writers*writes)
	t.Logf("%d writes of %d writers, %d conflicts", len(all), writers, conflicts)
}

// appendLine reads the block and replaces its text. The new text contains one more line. If the new
// text would contain more than 20 lines, appendLine removes the oldest lines.
func appendLine(ctx context.Context, s *memory.Service, line string) (a acknowledged, err error) {
	reply, _, err := s.Do(ctx, ann, memory.Operator(), abi.Call{Op: abi.GetBlock, Args: []json.RawMessage{json.RawMessage(`"core"`)}})
	if err != nil {
		return a, err
	}
	var before *block.Block
	if err := json.Unmarshal(reply, &before); err != nil {
		return a, err
	}
	var lines []string
	options := "{}"
	if before != nil {
		lines, a.expected = strings.Split(before.Content, "\n"), before.Revision
		options = fmt.Sprintf(`{"expected_updated_at": %q}`, block.FormatTime(before.Updated))
	}
	lines = append(lines, line)
	a.content = strings.Join(lines[max(0, len(lines)-20):], "\n")
	content, _ := json.Marshal(a.content)
	reply, _, err = s.Do(ctx, ann, memory.Operator(), abi.Call{Op: abi.UpdateBlock, Args: []json.RawMessage{json.RawMessage(`"core"`), content, json.RawMessage(options)}})
	if err != nil {
		return a, err
	}
	var stored struct{ Revision int64 }
	err = json.Unmarshal(reply, &stored)
	a.revision = stored.Revision
	return a, err
}

// checkChain checks that the acknowledged writes form a chain. The last write of the chain must be
// the stored block.
func checkChain(t *testing.T, s *memory.Service, all []acknowledged, want int) {
	t.Helper()
	if len(all) != want {
		t.Fatalf("%d writes were acknowledged; want %d", len(all), want)
	}
	slices.SortFunc(all, func(a, b acknowledged) int { return int(a.revision - b.revision) })
	last := acknowledged{}
	for _, a := range all {
		if a.expected != last.revision || a.revision <= last.revision {
			t.Fatalf("the write %+v does not follow %+v", a, last)
		}
		before, _ := strings.CutSuffix(a.content, "\n"+a.content[strings.LastIndex(a.content, "\n")+1:])
		if last.revision != 0 && !strings.HasSuffix(last.content, before) {
			t.Fatalf("the write %q lacks lines of %q", a.content, last.content)
		}
		if n := block.CountEntries(a.content); n > 20 {
			t.Fatalf("a stored text has %d entries", n)
		}
		last = a
	}
	reply, _, err := s.Do(t.Context(), ann, memory.Operator(), abi.Call{Op: abi.GetBlock, Args: []json.RawMessage{json.RawMessage(`"core"`)}})
	var now *block.Block
	if err := errors.Join(err, json.Unmarshal(reply, &now)); err != nil || now == nil || now.Content != last.content || now.Revision != last.revision {
		t.Fatalf("the block is %s, %v; want %+v", reply, err, last)
	}
}
