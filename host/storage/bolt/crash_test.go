package bolt_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/bolt"
)

// crashFile is the name of an environment variable. If the environment variable is set, the test
// binary runs as the process that the test kills.
const crashFile = "TOOLRUN_TEST_CRASH_FILE"

const crashWriters = 8

func TestMain(m *testing.M) {
	if path := os.Getenv(crashFile); path != "" {
		writeForever(path)
	}
	os.Exit(m.Run())
}

func crashKeys(writer int) []storage.Key {
	k := benchKey(writer)
	return []storage.Key{k, k.With(storage.Part{Tag: storage.Item, Value: "twin"})}
}

// writeForever runs several writers. Each writer has two records and repeatedly increments both
// revisions in one update. writeForever reports each successful update on standard output.
func writeForever(path string) {
	b, err := bolt.Open(path, &bolt.Options{LockTimeout: time.Minute})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := ballast(b); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var mu sync.Mutex // guards standard output
	for w := range crashWriters {
		go func() {
			keys := crashKeys(w)
			for {
				var reached int64
				err := b.Update(context.Background(), storage.Keys(keys...), func(now []storage.Record) ([]storage.Write, error) {
					reached = now[0].Revision + 1
					next := storage.Record{Key: keys[0], Revision: reached, Content: make([]byte, reached*997%40000), Expires: at.Add(time.Duration(reached))}
					twin := next
					twin.Key, twin.Tags = keys[1], []string{fmt.Sprint("end", reached%3)}
					return []storage.Write{{Record: next}, {Record: twin}}, nil
				})
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				mu.Lock()
				fmt.Println(w, reached)
				mu.Unlock()
			}
		}()
	}
	select {}
}

// ballast enlarges the file, because commits to a large file omit the list of free pages.
func ballast(b *bolt.Backend) error {
	for i := range 10 {
		k := benchKey(crashWriters + i)
		err := b.Update(context.Background(), storage.Keys(k), func([]storage.Record) ([]storage.Write, error) {
			return []storage.Write{{Record: storage.Record{Key: k, Revision: 1, Content: make([]byte, 1<<20)}}}, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// TestKilled repeatedly kills a process while the process writes. After each kill, the file must
// contain every acknowledged update as a whole. The file may also contain one further update of
// each writer.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	path := filepath.Join(t.TempDir(), "db")
	acknowledged := make([]int64, crashWriters)
	for range 6 {
		runAndKill(t, path, acknowledged, 50+rand.IntN(400))
		checkSound(t, path)
		b, err := bolt.Open(path, nil)
		must(t, err)
		for w, acked := range acknowledged {
			found, err := b.Get(context.Background(), crashKeys(w)...)
			must(t, err)
			if found[0].Revision != found[1].Revision {
				t.Errorf("writer %d left its two records at revisions %d and %d", w, found[0].Revision, found[1].Revision)
			}
			if got := found[0].Revision; got < acked || got > acked+1 {
				t.Errorf("writer %d is at revision %d; it acknowledged %d", w, got, acked)
			}
			acknowledged[w] = found[0].Revision
		}
		must(t, b.Close())
	}
}

// runAndKill starts the process, reads n acknowledgements, kills the process, and reads the rest of
// the output.
func runAndKill(t *testing.T, path string, acknowledged []int64, n int) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), crashFile+"="+path)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	must(t, err)
	must(t, child.Start())
	lines := bufio.NewScanner(out)
	for i := 0; lines.Scan(); i++ {
		var writer int
		var reached int64
		if _, err := fmt.Sscan(lines.Text(), &writer, &reached); err != nil {
			continue // the process was killed while it wrote the line
		}
		acknowledged[writer] = max(acknowledged[writer], reached)
		if i == n {
			must(t, child.Process.Kill())
		}
	}
	child.Wait()
}
