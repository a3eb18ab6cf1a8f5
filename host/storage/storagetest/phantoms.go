package storagetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/toolrun/toolrun/host/storage"
)

// In testPhantoms, clients count the records under a prefix. If the number is below a maximum, the
// client adds a record. Because each client holds the range, only one client can add the last
// record.
func testPhantoms(t *testing.T, b storage.Backend) {
	const clients, maximum = 8, 5
	for round := range 6 {
		prefix := app(fmt.Sprint("a", round), user("u"))
		together(clients, func(i int) {
			for {
				found, at, err := countAndAdd(b, prefix, fmt.Sprint("s", i), maximum, round%2 == 0)
				if errors.Is(err, storage.ErrChanged) {
					continue
				}
				if err != nil {
					t.Errorf("client %d saw %d records at %v: %v", i, found, at, err)
				}
				return
			}
		})
		if n := len(all(t, b, prefix)); n != maximum {
			t.Errorf("%d records were added; want %d", n, maximum)
		}
	}
}

// countAndAdd adds a record under a prefix if the prefix has fewer than maximum records.
func countAndAdd(b storage.Backend, prefix storage.Key, name string, maximum int, sinceKnown bool) (int, storage.Position, error) {
	ctx := context.Background()
	_, at, err := b.Read(ctx, nil, storage.Held{})
	if err != nil {
		return 0, at, err
	}
	found, err := b.Scan(ctx, prefix, "", 100)
	if err != nil || len(found) >= maximum {
		return len(found), at, err
	}
	on := storage.Keys(prefix.With(store(name)))
	on.Held.Ranges = []storage.Range{storage.RangeOf(prefix, "", 100, found)}
	if sinceKnown {
		on.Held.Since = at
	}
	return len(found), at, b.Update(ctx, on, func([]storage.Record) ([]storage.Write, error) {
		return []storage.Write{{Record: record(on.Keys[0], 1, "x")}}, nil
	})
}

// setOperation is an operation of testLinearizableRanges. The operation lists a set and then adds
// or removes a member.
type setOperation struct {
	member string
	remove bool
}

var setModel = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		was, op := state.(string), input.(setOperation)
		if output.(string) != was {
			return false, state
		}
		members := slices.DeleteFunc(strings.Fields(was), func(m string) bool { return m == op.member })
		if !op.remove && op.member != "" {
			members = append(members, op.member)
			slices.Sort(members)
		}
		return true, strings.Join(members, " ")
	},
}

// testLinearizableRanges checks that an Update with a held range takes effect only if the range is
// unchanged.
func testLinearizableRanges(t *testing.T, b storage.Backend) {
	const clients, rounds = 5, 20
	start := time.Now()
	history := make([][]porcupine.Operation, clients)
	together(clients, func(i int) {
		random := rand.New(rand.NewPCG(uint64(i), 3))
		for range rounds {
			op := setOperation{fmt.Sprint("m", random.IntN(6)), random.IntN(2) == 0}
			for {
				called := time.Since(start)
				saw, err := listAnd(b, op)
				if errors.Is(err, storage.ErrChanged) {
					continue // not applied
				}
				if err != nil {
					t.Error(err)
					return
				}
				history[i] = append(history[i], porcupine.Operation{
					ClientId: i, Input: op, Call: int64(called), Output: saw, Return: int64(time.Since(start)),
				})
				break
			}
		}
	})
	if !porcupine.CheckOperations(setModel, slices.Concat(history...)) {
		t.Errorf("the history is not linearizable: %+v", history)
	}
}

// listAnd lists the members of the set and changes the set, in one transaction.
func listAnd(b storage.Backend, op setOperation) (saw string, err error) {
	ctx, prefix := context.Background(), app("set")
	_, at, err := b.Read(ctx, nil, storage.Held{})
	if err != nil {
		return "", err
	}
	found, err := b.Scan(ctx, prefix, "", 100)
	if err != nil {
		return "", err
	}
	var members []string
	for _, r := range found {
		members = append(members, r.Key.Part(storage.Store))
	}
	on := storage.Keys(prefix.With(store(op.member)))
	on.Held = storage.Held{Since: at, Ranges: []storage.Range{storage.RangeOf(prefix, "", 100, found)}}
	return strings.Join(members, " "), b.Update(ctx, on, func(now []storage.Record) ([]storage.Write, error) {
		return []storage.Write{{Record: record(on.Keys[0], now[0].Revision+1, "x"), Delete: op.remove}}, nil
	})
}
