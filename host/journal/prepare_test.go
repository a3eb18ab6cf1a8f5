package journal_test

import (
	"context"
	"testing"

	"github.com/toolrun/toolrun/host/journal"
)

// TestOrderOfAnswers makes several calls. The order in which the answers arrive differs from the
// order in which the calls began. A second attempt must find the answers in the order in which they
// arrived.
func TestOrderOfAnswers(t *testing.T) {
	j := journal.New("run", journal.Limits{})
	answer := func(text string) journal.Call {
		return func(context.Context, string) ([]byte, error) { return []byte(text), nil }
	}
	prepare := func(a *journal.Attempt) (first, second *journal.Prepared) {
		request := journal.Request{Kind: "chat", Target: "local", Body: []byte("same")}
		return a.Prepare(request), a.Prepare(request)
	}
	a, _ := j.Begin()
	first, second := prepare(a)
	if first.Order() != 0 || second.Order() != 0 {
		t.Error("a request has an answer before its call")
	}
	for _, p := range []*journal.Prepared{second, first} {
		text := "first"
		if p == second {
			text = "second"
		}
		if got, err := p.Do(t.Context(), answer(text)); err != nil || string(got) != text {
			t.Fatalf("Do = %s, %v", got, err)
		}
	}
	a, _ = j.Begin()
	first, second = prepare(a)
	if first.Order() != 2 || second.Order() != 1 {
		t.Errorf("the answers are in the order %d, %d; want 2, 1", first.Order(), second.Order())
	}
	if got, err := first.Do(t.Context(), answer("again")); err != nil || string(got) != "first" {
		t.Errorf("Do = %s, %v; want the recorded answer", got, err)
	}
	if err := a.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	data, err := j.Encode()
	if err != nil {
		t.Fatal(err)
	}
	j, err = journal.Decode(data, "run", journal.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	a, _ = j.Begin()
	if first, second = prepare(a); first.Order() != 2 || second.Order() != 1 {
		t.Errorf("after decoding, the order is %d, %d; want 2, 1", first.Order(), second.Order())
	}
}
