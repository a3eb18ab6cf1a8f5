package mem_test

import (
	"testing"

	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/host/storage/storagetest"
)

func TestBackend(t *testing.T) {
	storagetest.Run(t, func(*testing.T) storage.Backend { return mem.New() })
}

func TestBudgetsAreExact(t *testing.T) {
	storagetest.RunExact(t, func(*testing.T) storage.Backend { return mem.New() })
}

// If no faults are injected, a Faulty backend must pass the same test suite as the wrapped backend.
func TestFaultyBackend(t *testing.T) {
	storagetest.Run(t, func(*testing.T) storage.Backend { return storagetest.NewFaulty(mem.New()) })
}
