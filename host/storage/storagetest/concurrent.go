package storagetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/toolrun/toolrun/host/storage"
)

// together starts n goroutines at the same time and waits until all goroutines have ended.
func together(n int, do func(i int)) {
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			do(i)
		})
	}
	close(start)
	wg.Wait()
}

// testCreationRace checks that only one of several concurrent updates creates a record.
func testCreationRace(t *testing.T, b storage.Backend) {
	exists := errors.New("it exists")
	for round := range 10 {
		k := app("a", store(fmt.Sprint("s", round)))
		var created atomic.Int32
		together(8, func(int) {
			err := b.Update(context.Background(), storage.Keys(k), func(now []storage.Record) ([]storage.Write, error) {
				if now[0].Exists() {
					return nil, exists
				}
				return []storage.Write{{Record: record(k, 1, "x")}}, nil
			})
			if err == nil {
				created.Add(1)
			} else if err != exists {
				t.Error(err)
			}
		})
		if created.Load() != 1 {
			t.Fatalf("%d of 8 goroutines created the record; want 1", created.Load())
		}
	}
	checkUsage(t, b, app("a"))
}

// testWriteSkew runs two concurrent updates. Each update reads the record that the other update
// writes. The result must be serializable.
func testWriteSkew(t *testing.T, b storage.Backend) {
	for round := range 10 {
		pair := []storage.Key{app("a", store(fmt.Sprint("left", round))), app("a", store(fmt.Sprint("right", round)))}
		together(2, func(i int) {
			err := b.Update(context.Background(), storage.Keys(pair...), func(now []storage.Record) ([]storage.Write, error) {
				if now[1-i].Exists() {
					return nil, nil
				}
				return []storage.Write{{Record: record(pair[i], 1, "x")}}, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		found := get(t, b, pair...)
		if found[0].Exists() == found[1].Exists() {
			t.Fatalf("left exists: %v, right exists: %v; want one of them", found[0].Exists(), found[1].Exists())
		}
	}
}

func number(r storage.Record) int {
	n, _ := strconv.Atoi(string(r.Content))
	return n
}

// testTransfers transfers money between accounts. Other goroutines read all accounts, and create
// and remove other records. The sum of all accounts must be the same in every snapshot.
func testTransfers(t *testing.T, b storage.Backend) {
	const accounts, clients, rounds = 6, 8, 40
	ctx := context.Background()
	keys := make([]storage.Key, accounts)
	for i := range keys {
		keys[i] = app("bank", user(fmt.Sprint("u", i)), store("account"))
		put(t, b, record(keys[i], 1, "100"))
	}
	rejected := errors.New("rejected")
	transfer := func(random *rand.Rand) error {
		from := random.IntN(accounts)
		to := (from + 1 + random.IntN(accounts-1)) % accounts
		amount := 1 + random.IntN(200)
		pair := []storage.Key{keys[from], keys[to]}
		return b.Update(ctx, storage.Keys(pair...), func(now []storage.Record) ([]storage.Write, error) {
			if number(now[0]) < amount {
				return nil, rejected
			}
			return []storage.Write{
				{Record: record(pair[0], now[0].Revision+1, strconv.Itoa(number(now[0])-amount))},
				{Record: record(pair[1], now[1].Revision+1, strconv.Itoa(number(now[1])+amount))},
			}, nil
		})
	}
	together(clients, func(i int) {
		random := rand.New(rand.NewPCG(uint64(i), 1))
		for round := range rounds {
			if err := transfer(random); err != nil && err != rejected {
				t.Error(err)
				return
			}
			found, err := b.Get(ctx, keys...)
			if err != nil {
				t.Error(err)
				return
			}
			sum := 0
			for _, r := range found {
				sum += number(r)
			}
			if sum != 100*accounts {
				t.Errorf("a snapshot has the sum %d; want %d", sum, 100*accounts)
				return
			}
			if round%8 == i {
				churn(t, b, i)
			}
		}
	})
	if n := len(all(t, b, app("bank"))); n != accounts {
		t.Errorf("%d accounts are left; want %d", n, accounts)
	}
	checkUsage(t, b, app("bank"), app("churn"))
}

// churn creates records in an app that several goroutines use. churn removes the records by tag and
// by expiry.
func churn(t tester, b storage.Backend, i int) {
	ctx := context.Background()
	for j := range 4 {
		r := record(app("churn", user(fmt.Sprint("u", i)), store(fmt.Sprint("s", j))), 1, "x")
		r = withTags(r, fmt.Sprint("session/", i))
		r.Expires = epoch
		keys := []storage.Key{r.Key}
		if err := b.Update(ctx, storage.Keys(keys...), func([]storage.Record) ([]storage.Write, error) {
			return []storage.Write{{Record: r}}, nil
		}); err != nil {
			t.Error(err)
		}
	}
	_, err1 := b.DeleteWhere(ctx, tagged("churn", fmt.Sprint("session/", i)), 2)
	_, err2 := sweepUpTo(ctx, b, epoch, 1)
	if err := errors.Join(err1, err2); err != nil {
		t.Error(err)
	}
}

// counters consists of two counters. testLinearizable tests operations on the counters. An
// operation adds to one or both counters, and returns both values.
type counters struct{ a, b int }

var countersModel = porcupine.Model{
	Init: func() any { return counters{} },
	Step: func(state, input, output any) (bool, any) {
		was, add := state.(counters), input.(counters)
		return output.(counters) == was, counters{was.a + add.a, was.b + add.b}
	},
}

func testLinearizable(t *testing.T, b storage.Backend) {
	const clients, rounds = 5, 25
	ctx := context.Background()
	keys := []storage.Key{app("a", store("a")), app("a", store("b"))}
	start := time.Now()
	history := make([][]porcupine.Operation, clients)
	step := func(add counters) (saw counters, err error) {
		if add == (counters{}) {
			found, err := b.Get(ctx, keys...)
			if err != nil {
				return saw, err
			}
			return counters{number(found[0]), number(found[1])}, nil
		}
		err = b.Update(ctx, storage.Keys(keys...), func(now []storage.Record) ([]storage.Write, error) {
			saw = counters{number(now[0]), number(now[1])}
			var writes []storage.Write
			for i, n := range []int{add.a, add.b} {
				if n != 0 {
					writes = append(writes, storage.Write{Record: record(keys[i], now[i].Revision+1, strconv.Itoa(number(now[i])+n))})
				}
			}
			return writes, nil
		})
		return saw, err
	}
	together(clients, func(i int) {
		random := rand.New(rand.NewPCG(uint64(i), 2))
		for range rounds {
			add := counters{random.IntN(2), random.IntN(2)}
			called := time.Since(start)
			saw, err := step(add)
			if err != nil {
				t.Error(err)
				return
			}
			history[i] = append(history[i], porcupine.Operation{
				ClientId: i, Input: add, Call: int64(called), Output: saw, Return: int64(time.Since(start)),
			})
		}
	})
	var operations []porcupine.Operation
	for _, h := range history {
		operations = append(operations, h...)
	}
	if !porcupine.CheckOperations(countersModel, operations) {
		t.Errorf("the history is not linearizable: %+v", operations)
	}
}
