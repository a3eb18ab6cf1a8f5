package memory

import (
	"context"
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
)

// rehearse decides what a commit would do, on the records as they are, and does nothing.
func (v *View) rehearse(ctx context.Context, tx Tx, done *Done) error {
	c := &commit{v: v, tx: tx, keys: v.commitKeys(tx)}
	err := c.settled(ctx, func() error {
		records, err := v.s.backend.Get(ctx, c.keys...)
		if err != nil {
			return v.s.hostFault("look at what a run would change", err)
		}
		_, err = c.decide(records)
		return err
	})
	if err != nil {
		return err
	}
	done.Effects, done.Changes = c.effects, c.changes
	return nil
}

// changes says what a commit makes of the records.
func (v *View) changes(outcomes map[*entry]outcome) []abi.Change {
	if !v.dry {
		return nil
	}
	list := []abi.Change{}
	for _, e := range v.entries {
		if result, wrote := outcomes[e]; wrote {
			list = append(list, abi.Change{Store: e.name, Before: orNull(e.base.Content), After: orNull(result.next.Content)})
		}
	}
	return list
}

func orNull(content []byte) json.RawMessage {
	if len(content) == 0 {
		return null
	}
	return content
}
