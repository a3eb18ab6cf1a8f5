package collection_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/storage"
)

// lateBackend is a backend that never reports a change. PostgreSQL reports no changes while an
// older transaction is in progress.
type lateBackend struct{ storage.Backend }

func (lateBackend) Changes(_ context.Context, _ storage.Key, since storage.Position, _ int) ([]storage.Changed, storage.Position, error) {
	return nil, since, nil
}

// The operation "recall" must find entries of earlier commits of the same process, even if the
// backend reports these commits late. The partition must be so large that the search uses an index.
func TestRecallOfLateChanges(t *testing.T) {
	f := openWith(t, func(cfg *memory.Config) { cfg.Backend = lateBackend{cfg.Backend} })
	for i := range 260 {
		f.want(ann, abi.Remember, fmt.Sprintf(`"kb", "coffee %d", {"id": "%d"}`, i, i), `{"success":true`)
	}
	if got := f.recall(ann, `"kb", "tea", {"mode": "text"}`); got != "" {
		t.Errorf("recall before remember = %q; want nothing", got)
	}
	f.want(ann, abi.Remember, `"kb", "green tea", {"id": "new"}`, `{"success":true`)
	if got := f.recall(ann, `"kb", "tea", {"mode": "text"}`); got != "new" {
		t.Errorf("recall after remember = %q; want the new entry", got)
	}
	f.want(ann, abi.Forget, `"kb", {"id": "new"}`, `{"count":1`)
	if got := f.recall(ann, `"kb", "tea", {"mode": "text"}`); got != "" {
		t.Errorf("recall after forget = %q; want nothing", got)
	}
}
