package host_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/bolt"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// benchAgent returns an agent for benchmarks. Each turn of the agent has ten steps, one trigger and
// three constraints. A turn reads two facts, writes one fact, and calls no tool.
func benchAgent() string {
	var b strings.Builder
	b.WriteString(`AGENT: Bench
GOAL: "Measure"
MEMORY:
  session:
    - count
      INITIAL: 0
  persistent:
    - user.name
      DEFAULT: "guest"
    - user.limit
      DEFAULT: 100
    - user.last
  remember:
    - WHEN: count > 1000000
      STORE: count -> user.most
CONSTRAINTS:
  always:
    - REQUIRE count >= 0
      ON_FAIL: "never"
    - LIMIT count <= user.limit + 1000000000
      ON_FAIL: "never"
    - RESTRICT user.name == "nobody"
      ON_FAIL: "never"
FLOW:
`)
	for i := range 10 {
		fmt.Fprintf(&b, "  s%d:\n    REASONING: false\n    SET:\n      - count = count + 1\n", i)
		if i < 9 {
			fmt.Fprintf(&b, "    THEN: s%d\n", i+1)
			continue
		}
		b.WriteString("      - user.last = count\n    RESPOND: \"{{user.name}}: {{count}}\"\n    THEN: COMPLETE\n")
	}
	return b.String()
}

func BenchmarkTurn(b *testing.B) {
	b.Run("mem", func(b *testing.B) { benchTurns(b, mem.New()) })
	b.Run("bolt", func(b *testing.B) {
		db, err := bolt.Open(filepath.Join(b.TempDir(), "t.db"), nil)
		if err != nil {
			b.Fatal(err)
		}
		defer db.Close()
		benchTurns(b, db)
	})
	b.Run("plain bbolt update", benchUpdates)
}

func benchTurns(b *testing.B, backend storage.Backend) {
	loaded, problems := app.Load(fstest.MapFS{"app.yaml": {Data: []byte("app: bench\n")}, "bench.abl": {Data: []byte(benchAgent())}}, "app.yaml")
	if loaded == nil || problems.Err() != nil {
		b.Fatal(problems)
	}
	h, err := host.Open(context.Background(), host.Options{App: loaded, Backend: backend, SweepEvery: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close()
	b.ReportAllocs()
	message := "go"
	for b.Loop() {
		result, err := h.Agents().Turn(context.Background(), host.Turn{Caller: annInS1, Message: &message})
		if err != nil || len(result.Messages) != 1 {
			b.Fatal(result, err)
		}
	}
}

// benchUpdates measures one update of a bbolt database. No commit can be faster than such an
// update.
func benchUpdates(b *testing.B) {
	db, err := bbolt.Open(filepath.Join(b.TempDir(), "p.db"), 0o600, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	n := uint64(0)
	for b.Loop() {
		err := db.Update(func(tx *bbolt.Tx) error {
			bucket, err := tx.CreateBucketIfNotExists([]byte("b"))
			if err != nil {
				return err
			}
			n++
			return bucket.Put([]byte("k"), binary.BigEndian.AppendUint64(nil, n))
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
