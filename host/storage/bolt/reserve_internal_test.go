package bolt

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/host/storage"
)

// TestReaderDelaysNoUpdates enlarges a file during a read transaction. With a small mapping, the
// file would outgrow the mapping. Updates must not wait for the reader.
func TestReaderDelaysNoUpdates(t *testing.T) {
	b := openTest(t)
	began, end := make(chan struct{}), make(chan struct{})
	reader := make(chan error)
	go func() {
		reader <- b.read(func(*bbolt.Tx) error {
			close(began)
			<-end
			return nil
		})
	}()
	<-began
	writer := make(chan error)
	go func() {
		for i := range 16 {
			k := testKey(fmt.Sprint("s", i))
			err := b.Update(t.Context(), storage.Keys(k), func([]storage.Record) ([]storage.Write, error) {
				return []storage.Write{{Record: storage.Record{Key: k, Revision: 1, Content: make([]byte, 4<<20)}}}, nil
			})
			if err != nil {
				writer <- err
				return
			}
		}
		writer <- nil
	}()
	select {
	case err := <-writer:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Error("updates wait for a reader")
		close(end)
		<-writer
		return
	}
	close(end)
	if err := <-reader; err != nil {
		t.Error(err)
	}
}

// TestSmallFile checks that a database with little data has a small file.
func TestSmallFile(t *testing.T) {
	b := openTest(t)
	for range 3 {
		if err := count(b, testKey("s")); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(b.fd.Name()); err != nil || info.Size() > 256<<10 {
		t.Errorf("the file has %d bytes, %v; want at most 256 KiB", info.Size(), err)
	}
}
