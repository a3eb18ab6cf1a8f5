package collection_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
)

// perform performs an operation in a separate transaction. All goroutines can call the method.
func (f *fixture) perform(c partition.Caller, op string, args ...any) (json.RawMessage, error) {
	call := abi.Call{Op: op}
	for _, arg := range args {
		text, err := json.Marshal(arg)
		if err != nil {
			return nil, err
		}
		call.Args = append(call.Args, text)
	}
	reply, _, err := f.Do(context.Background(), c, memory.Operator(), call)
	return reply, err
}

// texts returns the contents in a reply to "recall".
func texts(reply json.RawMessage) (found []string, err error) {
	var r struct{ Results []struct{ Content string } }
	err = json.Unmarshal(reply, &r)
	for _, e := range r.Results {
		found = append(found, e.Content)
	}
	return found, err
}

// A writer stores and removes entries of one user. After each change, the writer checks that a
// search finds all stored entries of the user and no other entries.
func (f *fixture) writer(user string, rounds int) error {
	c := as(user)
	c.Run = "run_of_" + user
	own, shared := map[string]any{"namespace": "n", "limit": 1000}, map[string]any{"namespace": user, "limit": 1000}
	for i := range rounds {
		for _, target := range []struct {
			collection string
			options    map[string]any
		}{{"notes", own}, {"kb", shared}} {
			id, text := fmt.Sprint(i%5), fmt.Sprintf("tea %d of %s", i, user)
			if _, err := f.perform(c, abi.Remember, target.collection, text, map[string]any{"id": id, "namespace": target.options["namespace"]}); err != nil {
				return err
			}
			if i%3 == 0 {
				if _, err := f.perform(c, abi.Forget, target.collection, map[string]any{"id": fmt.Sprint((i + 1) % 5), "namespace": target.options["namespace"]}); err != nil {
					return err
				}
			}
			reply, err := f.perform(c, abi.Recall, target.collection, "tea", target.options)
			if err != nil {
				return err
			}
			found, err := texts(reply)
			if err != nil || !slices.Contains(found, text) || len(found) > 5 {
				return fmt.Errorf("after the entry %q, recall in %s found %q (%v)", text, target.collection, found, err)
			}
			for _, other := range found {
				if !strings.HasSuffix(other, " of "+user) {
					return fmt.Errorf("recall in %s as %s found %q", target.collection, user, other)
				}
			}
		}
	}
	return nil
}

// Writers of several users and an erasure run concurrently. A search must find each entry of its
// user as soon as the entry is committed. A search must not find an entry of another user.
func TestConcurrentWriters(t *testing.T) {
	f := open(t)
	var group sync.WaitGroup
	errs := make(chan error, 10)
	for i := range 6 {
		group.Go(func() { errs <- f.writer(fmt.Sprint("user", i), 30) })
	}
	group.Go(func() {
		for range 10 {
			c := as("erased")
			if _, err := f.perform(c, abi.Remember, "notes", "tea of erased"); err != nil {
				errs <- err
				return
			}
			if _, err := f.Erase(context.Background(), c); err != nil {
				errs <- err
				return
			}
			reply, err := f.perform(c, abi.Recall, "notes", "tea")
			if found, _ := texts(reply); err != nil || len(found) > 0 {
				errs <- fmt.Errorf("after the erasure, recall found %q (%v)", found, err)
				return
			}
		}
	})
	group.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
}

// Two runs forget the same entries and add other entries. Neither run may remove an entry that this
// run has not read.
func TestForgetConflicts(t *testing.T) {
	f := open(t)
	f.want(ann, abi.Remember, `"notes", "tea", {"id": "1", "metadata": {"source": "a"}}`, `{"success":true`)
	attempts := 0
	_, err := f.run(ann, memory.Tx{}, func(call func(op, args string) string) {
		attempts++
		got := call(abi.Forget, `"notes", {"filter": {"source": "a"}}`)
		if attempts == 1 {
			f.call(ann, abi.Remember, `"notes", "tea", {"id": "1", "metadata": {"source": "b"}}`)
			return
		}
		if got != `{"count":0,"more":false}` {
			t.Errorf("the second attempt removed an entry that no longer matches: %s", got)
		}
	})
	if err != nil || attempts != 2 {
		t.Errorf("the run had %d attempts (%v); want 2", attempts, err)
	}
	if got := f.recall(ann, `"notes", "tea"`); got != "1" {
		t.Errorf("recall found %q; want the replaced entry", got)
	}
	if _, err := f.perform(ann, abi.Forget, "notes", map[string]any{}); !errors.Is(err, abi.InvalidArgument) {
		t.Errorf("forget without a selector: %v", err)
	}
}
