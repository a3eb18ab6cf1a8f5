package journal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/journal"
)

// provider is a test double for a model. For each prompt, provider counts the calls.
type provider struct{ paid map[string]int }

func (p *provider) answer(prompt string) journal.Call {
	return func(context.Context, string) ([]byte, error) {
		if p.paid == nil {
			p.paid = map[string]int{}
		}
		p.paid[prompt]++
		return fmt.Appendf(nil, "%s %d", prompt, p.paid[prompt]), nil
	}
}

func chat(prompt string) journal.Request {
	return journal.Request{Kind: "chat", Target: "local", Body: []byte(prompt)}
}

func begin(t *testing.T, j *journal.Journal) *journal.Attempt {
	t.Helper()
	a, err := j.Begin()
	if err != nil {
		t.Fatalf("Begin() = %v", err)
	}
	return a
}

func do(t *testing.T, a *journal.Attempt, r journal.Request, call journal.Call) string {
	t.Helper()
	answer, err := a.Do(t.Context(), r, call)
	if err != nil {
		t.Fatalf("Do(%s) = %v", r.Body, err)
	}
	return string(answer)
}

func end(t *testing.T, a *journal.Attempt) {
	t.Helper()
	if err := a.End(t.Context()); err != nil {
		t.Fatalf("End() = %v", err)
	}
}

func names(keys []journal.Key) (names []string) {
	for _, k := range keys {
		names = append(names, fmt.Sprintf("%s#%d", k.Target, k.N))
	}
	return names
}

func TestReplay(t *testing.T) {
	j, p := journal.New("run", journal.Limits{}), &provider{}
	for range 5 {
		a := begin(t, j)
		for _, want := range []string{"a 1", "a 2", "b 1"} { // equal requests in one attempt are different calls
			prompt := want[:1]
			if got := do(t, a, chat(prompt), p.answer(prompt)); got != want {
				t.Errorf("Do(%s) = %q; want %q", prompt, got, want)
			}
		}
		end(t, a)
	}
	for _, other := range []journal.Request{
		{Kind: "http", Target: "local", Body: []byte("a")},
		{Kind: "chat", Target: "other", Body: []byte("a")},
	} {
		if got := do(t, begin(t, j), other, p.answer("other")); !strings.HasPrefix(got, "other") {
			t.Errorf("Do(%s %s) = %q; want a call of its own", other.Kind, other.Target, got)
		}
	}
}

func TestReplayOfFaults(t *testing.T) {
	secret := errors.New("dial 10.0.0.1: refused")
	for name, tc := range map[string]struct {
		err  error
		want abi.Code
	}{
		"fault": {abi.Faultf(abi.Unavailable, "the model is busy"), abi.Unavailable},
		"error": {secret, abi.Internal},
		"panic": {nil, abi.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			j, calls := journal.New("run", journal.Limits{}), 0
			call := func(context.Context, string) ([]byte, error) {
				calls++
				if tc.err == nil {
					panic("a bug")
				}
				return []byte("ignored"), tc.err
			}
			for i := range 3 {
				a := begin(t, j)
				answer, err := a.Do(t.Context(), chat("x"), call)
				if abi.FaultOf(err).Code != tc.want || answer != nil {
					t.Errorf("attempt %d: Do() = %q, %v; want the fault %s", i, answer, err, tc.want)
				}
				end(t, a)
				j = restored(t, j, journal.Limits{})
			}
			if calls != 1 {
				t.Errorf("the call was made %d times; want once", calls)
			}
		})
	}
}

func TestUnsafeCallsAreAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, calls := journal.New("run", journal.Limits{}), 0
		slow := func(ctx context.Context, _ string) ([]byte, error) {
			calls++
			select {
			case <-time.After(time.Minute):
				return []byte("late"), nil
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		a := begin(t, j)
		go func() { time.Sleep(time.Second); cancel() }()
		if _, err := a.Do(ctx, chat("x"), slow); !errors.Is(err, abi.Cancelled) {
			t.Errorf("Do() with a cancelled context = %v; want cancelled", err)
		}
		started := time.Now()
		end(t, a)
		if waited := time.Since(started); waited != 59*time.Second {
			t.Errorf("End waited %s; want 59s, until the unsafe call returned", waited)
		}
		if got := do(t, begin(t, j), chat("x"), slow); got != "late" || calls != 1 {
			t.Errorf("Do() = %q after %d calls; want the recorded answer of 1 call", got, calls)
		}
	})
}

func TestSafeCallsAreCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, calls := journal.New("run", journal.Limits{}), 0
		slow := func(ctx context.Context, _ string) ([]byte, error) {
			if calls++; calls == 2 {
				return []byte("second"), nil
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}
		request := chat("x")
		request.Safe = true
		a := begin(t, j)
		result := make(chan error)
		go func() { _, err := a.Do(t.Context(), request, slow); result <- err }()
		synctest.Wait()
		end(t, a)
		if err := <-result; !errors.Is(err, abi.Cancelled) {
			t.Errorf("Do() of an ended attempt = %v; want cancelled", err)
		}
		if _, err := a.Do(t.Context(), request, slow); !errors.Is(err, abi.Cancelled) || calls != 1 {
			t.Errorf("Do() after End = %v, %d calls; want cancelled and no further call", err, calls)
		}
		if got := do(t, begin(t, j), request, slow); got != "second" {
			t.Errorf("Do() = %q; want a new answer, because the call was cancelled", got)
		}
	})
}

func TestDeadlineIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := journal.New("run", journal.Limits{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := begin(t, j).Do(ctx, chat("x"), func(ctx context.Context, _ string) ([]byte, error) {
			if _, ok := ctx.Deadline(); !ok {
				t.Error("an unsafe call has no deadline; want the attempt's")
			}
			<-ctx.Done()
			return nil, abi.Faultf(abi.Timeout, "too slow")
		})
		if !errors.Is(err, abi.Timeout) {
			t.Errorf("Do() = %v; want timeout", err)
		}
		synctest.Wait()
	})
}

func TestSingleFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, calls := journal.New("run", journal.Limits{}), 0
		slow := func(context.Context, string) ([]byte, error) {
			calls++
			time.Sleep(time.Minute)
			return []byte("one"), nil
		}
		first, started := begin(t, j), time.Now()
		result := make(chan error, 1)
		go func() { _, err := first.Do(t.Context(), chat("x"), slow); result <- err }()
		synctest.Wait()
		second := begin(t, j)
		if err := <-result; !errors.Is(err, abi.Cancelled) || time.Since(started) > 0 {
			t.Errorf("Do() of the previous attempt = %v after %s; want cancelled at once", err, time.Since(started))
		}
		if got := do(t, second, chat("x"), slow); got != "one" || calls != 1 {
			t.Errorf("Do() = %q after %d calls; want the answer of the call in flight", got, calls)
		}
	})
}

func TestLiveAttempts(t *testing.T) {
	j, p := journal.New("run", journal.Limits{}), &provider{}
	for i := range journal.DefaultLiveAttempts {
		a := begin(t, j)
		for _, prompt := range []string{"same", fmt.Sprint("first ", i), fmt.Sprint("second ", i)} {
			do(t, a, chat(prompt), p.answer(prompt))
		}
		end(t, a)
	}
	a := begin(t, j)
	if got := do(t, a, chat("same"), p.answer("same")); got != "same 1" {
		t.Errorf("Do(same) = %q; want the recorded answer", got)
	}
	_, err := a.Do(t.Context(), chat("new"), p.answer("new"))
	if conflict, ok := errors.AsType[*journal.ConflictError](err); !ok || !errors.Is(err, abi.Conflict) || abi.FaultOf(conflict).Code != abi.Conflict {
		t.Errorf("Do(new) in attempt 4 = %v; want a ConflictError", err)
	}
	if p.paid["new"] != 0 {
		t.Error("Do made a call although too many attempts have made calls; want no call")
	}
}

func TestFull(t *testing.T) {
	for name, limits := range map[string]journal.Limits{
		"entries": {Entries: 2},
		"bytes":   {Bytes: 300}, // the size of two answers and of their overhead
	} {
		t.Run(name, func(t *testing.T) {
			j, p := journal.New("run", limits), &provider{}
			a := begin(t, j)
			for _, prompt := range []string{"a", "b"} {
				do(t, a, chat(prompt), p.answer(prompt))
			}
			if j.Full() {
				t.Fatal("Full() = true after two calls, which fit")
			}
			if got := do(t, a, chat("c"), p.answer("c")); got != "c 1" || !j.Full() {
				t.Errorf("Do(c) = %q, Full() = %t; want its answer and a full journal", got, j.Full())
			}
			if got := do(t, a, chat("d"), p.answer("d")); got != "d 1" {
				t.Errorf("Do(d) = %q; want an answer, since a full journal does not fail", got)
			}
			if _, err := j.Begin(); !errors.Is(err, abi.Conflict) {
				t.Errorf("Begin() of a full journal = %v; want conflict", err)
			}
			if _, err := j.Encode(); err == nil {
				t.Error("Encode() of a full journal succeeded; want an error, since calls are missing")
			}
		})
	}
}

func TestOrphans(t *testing.T) {
	j, p := journal.New("run", journal.Limits{}), &provider{}
	request := func(name string) journal.Request { return journal.Request{Kind: "chat", Target: name} }
	for _, calls := range []string{"abbc", "bd"} {
		a := begin(t, j)
		for _, name := range strings.Split(calls, "") {
			do(t, a, request(name), p.answer(name))
		}
		end(t, a)
	}
	if got, want := names(j.Orphans()), []string{"a#1", "b#2", "c#1"}; !slices.Equal(got, want) {
		t.Errorf("Orphans() = %q; want %q", got, want)
	}
	if keys := journal.New("run", journal.Limits{}).Orphans(); len(keys) > 0 {
		t.Errorf("Orphans() of a new journal = %v; want none", keys)
	}
}

func TestOrphansInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := journal.New("run", journal.Limits{})
		a := begin(t, j)
		for _, safe := range []bool{true, false} {
			request := journal.Request{Kind: "chat", Target: fmt.Sprint(safe), Safe: safe}
			go a.Do(t.Context(), request, func(context.Context, string) ([]byte, error) {
				time.Sleep(time.Minute)
				return nil, errors.New("cancelled")
			})
		}
		synctest.Wait()
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := a.End(short); !errors.Is(err, abi.Timeout) {
			t.Errorf("End() = %v; want timeout, since calls are in flight", err)
		}
		if _, err := j.Encode(); err == nil {
			t.Error("Encode() with calls in flight succeeded; want an error")
		}
		b := begin(t, j)
		if got := names(j.Orphans()); !slices.Equal(got, []string{"false#1"}) {
			t.Errorf("Orphans() = %q; want the unsafe call in flight, not the cancelled one", got)
		}
		end(t, b)
	})
}

func TestIdempotencyKey(t *testing.T) {
	seen := map[string]string{}
	for _, run := range []string{"run", "run2"} {
		for range 2 { // the second journal represents the journal after a restart
			a := begin(t, journal.New(run, journal.Limits{}))
			for _, r := range []journal.Request{chat("x"), chat("x"), chat("y"), {Kind: "chatl", Target: "ocal", Body: []byte("x")}} {
				var key string
				do(t, a, r, func(_ context.Context, idempotencyKey string) ([]byte, error) {
					key = idempotencyKey
					return nil, nil
				})
				seen[key] += run + " "
			}
		}
	}
	if len(seen) != 8 {
		t.Errorf("got %d idempotency keys; want 8: one for each run and call", len(seen))
	}
	for key, runs := range seen {
		if first, second, _ := strings.Cut(strings.TrimSpace(runs), " "); len(key) != 64 || first != second {
			t.Errorf("key %q has the uses %q; want it once in each journal of one run", key, runs)
		}
	}
}

// restored encodes a journal and decodes the result.
func restored(t *testing.T, j *journal.Journal, limits journal.Limits) *journal.Journal {
	t.Helper()
	data, err := j.Encode()
	if err != nil {
		t.Fatalf("Encode() = %v", err)
	}
	again, err := journal.Decode(data, "run", limits)
	if err != nil {
		t.Fatalf("Decode() = %v", err)
	}
	if twice, err := again.Encode(); err != nil || !bytes.Equal(twice, data) {
		t.Fatalf("Encode() after Decode = %q, %v; want the same bytes", twice, err)
	}
	return again
}

// Retry removes a fault only if the fault has one of the given codes and the journal has recorded
// the fault itself.
func TestRetry(t *testing.T) {
	j, p := journal.New("run", journal.Limits{}), &provider{}
	fault := func(code abi.Code) journal.Call {
		return func(context.Context, string) ([]byte, error) { return nil, abi.Faultf(code, "failed") }
	}
	a := begin(t, j)
	if _, err := a.Do(t.Context(), chat("restored"), fault(abi.Unavailable)); !errors.Is(err, abi.Unavailable) {
		t.Fatalf("Do() = %v; want unavailable", err)
	}
	end(t, a)
	j = restored(t, j, journal.Limits{})
	a = begin(t, j)
	do(t, a, chat("answered"), p.answer("answered"))
	for prompt, code := range map[string]abi.Code{"temporary": abi.Unavailable, "final": abi.InvalidArgument} {
		if _, err := a.Do(t.Context(), chat(prompt), fault(code)); !errors.Is(err, code) {
			t.Fatalf("Do() = %v; want %s", err, code)
		}
	}
	end(t, a)
	j.Retry(abi.Unavailable, abi.Timeout)
	a = begin(t, j)
	for _, prompt := range []string{"answered", "temporary"} {
		if got := do(t, a, chat(prompt), p.answer(prompt)); got != prompt+" 1" {
			t.Errorf("Do(%s) = %q; want the first answer", prompt, got)
		}
	}
	for prompt, code := range map[string]abi.Code{"restored": abi.Unavailable, "final": abi.InvalidArgument} {
		if _, err := a.Do(t.Context(), chat(prompt), p.answer(prompt)); !errors.Is(err, code) {
			t.Errorf("Do(%s) = %v; want the recorded fault %s", prompt, err, code)
		}
	}
}
