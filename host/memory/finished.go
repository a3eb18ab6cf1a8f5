package memory

import (
	"encoding/json"
	"fmt"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage"
)

// finishedState is what is kept of a run with an idempotency key.
type finishedState struct {
	Fingerprint string          `json:"fingerprint"`
	Answer      json.RawMessage `json:"answer"`
}

// finished returns the answer that is kept under a transaction's key, nil where there is none. A key that was
// used for something else is a conflict.
func (s *Service) finished(tx Tx, r storage.Record) ([]byte, error) {
	if !r.Exists() || r.Expired(s.now()) {
		return nil, nil
	}
	var state finishedState
	if err := json.Unmarshal(r.Content, &state); err != nil {
		return nil, fmt.Errorf("finished run: %w: %w", storage.ErrCorrupt, err)
	}
	if state.Fingerprint != tx.Fingerprint {
		return nil, abi.Faultf(abi.Conflict, "the idempotency key was used for a run with another input").
			WithHint("use a new key for a new run")
	}
	return state.Answer, nil
}
