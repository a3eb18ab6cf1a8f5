package yield_test

import (
	"bytes"
	"io"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/toolrun/toolrun/internal/yield"
)

func TestReader(t *testing.T) {
	want := bytes.Repeat([]byte("0123456"), yield.Bytes/2)
	if err := iotest.TestReader(yield.Reader(bytes.NewReader(want)), want); err != nil {
		t.Error(err)
	}
}

// TestReaderYields checks that another goroutine can run during reads on a single processor.
func TestReaderYields(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var turns atomic.Int64
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
				turns.Add(1)
				runtime.Gosched()
			}
		}
	}()
	r := yield.Reader(bytes.NewReader(make([]byte, 3*yield.Bytes)))
	piece := make([]byte, yield.Bytes)
	if _, err := io.ReadFull(r, piece); err != nil {
		t.Fatal(err)
	}
	before := turns.Load()
	if _, err := io.ReadFull(r, piece); err != nil {
		t.Fatal(err)
	}
	if turns.Load() == before {
		t.Error("no other goroutine ran while two pieces were read")
	}
}
