package memory

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage"
)

// finishedState is the stored form of the outcome of a run with an idempotency key.
type finishedState struct {
	Fingerprint string          `json:"fingerprint"`
	Answer      json.RawMessage `json:"answer"`
	// Paused is the approval token for which the run waits, or "". When the run continues after the
	// approval, its answer replaces Answer.
	Paused string `json:"paused,omitempty"`
}

// finished returns the answer that is stored under the idempotency key of the transaction, or nil
// if no answer is stored. If the key was used for a different request, the error is a conflict.
func (t *transaction) finished(r storage.Record) ([]byte, error) {
	if !r.Exists() || r.Expired(t.s.now()) {
		return nil, nil
	}
	var state finishedState
	if err := json.Unmarshal(r.Content, &state); err != nil {
		return nil, fmt.Errorf("finished run: %w: %w", storage.ErrCorrupt, err)
	}
	if state.Fingerprint != t.tx.Fingerprint {
		return nil, abi.Faultf(abi.Conflict, "the idempotency key was already used for a request that differs in %s", differing(state.Fingerprint, t.tx.Fingerprint)).
			WithHint("use a new idempotency key for a new request")
	}
	if state.Paused != "" && t.tx.Claim != nil && state.Paused == t.tx.Claim.Token {
		return nil, nil
	}
	return state.Answer, nil
}

// differing compares two fingerprints and returns the names of the parts that differ. If a
// fingerprint does not consist of parts, the result is "request".
func differing(was, is string) string {
	known := map[string]string{}
	for part := range strings.FieldsSeq(was) {
		name, digest, _ := strings.Cut(part, "=")
		known[name] = digest
	}
	var names []string
	for part := range strings.FieldsSeq(is) {
		name, digest, ok := strings.Cut(part, "=")
		before, had := known[name]
		if !ok || !had {
			return "request"
		}
		if digest != before {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "request"
	}
	return strings.Join(names, ", ")
}

// kept returns the content of the record under the idempotency key of the run. The record contains
// the answer of the run as raw JSON.
func (t *transaction) kept(effects report.Effects) ([]byte, error) {
	answer, err := t.tx.Answer(effects)
	if err != nil {
		return nil, err
	}
	fingerprint, err := json.Marshal(t.tx.Fingerprint)
	if err != nil {
		return nil, err
	}
	content := slices.Concat([]byte(`{"fingerprint":`), fingerprint, []byte(`,"answer":`), answer, []byte(`}`))
	if len(content) > storage.MaxContentBytes {
		return nil, abi.Faultf(abi.TooLarge, "the Result has %d bytes; with an idempotency key, the limit is %d", len(answer), storage.MaxContentBytes-(len(content)-len(answer))).
			WithHint("reduce the tool's output or log, or run the tool without an idempotency key")
	}
	return content, nil
}
