package txn_test

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn"
)

// program is the body of a run: a list of steps. The writes of a step can depend on the results of
// earlier steps.
type program struct {
	steps []step
	throw bool // true if the program fails at the end
}

type step struct {
	op      string // "get", "scan", "append", "set", "delete", "create", "short", "expire", "digest" or "nested"
	key     int
	n       int
	session string
	inner   program
}

func (s step) String() string {
	if s.op == "nested" {
		return fmt.Sprintf("nested(%v throw=%t)", s.inner.steps, s.inner.throw)
	}
	return fmt.Sprintf("%s %d %d %s", s.op, s.key, s.n, s.session)
}

var (
	errThrown   = errors.New("thrown")
	errRejected = errors.New("rejected")
)

const itemCount = 5

func storePrefix(tenant string) storage.Key {
	return storage.MakeKey(storage.Part{Tag: storage.Tenant, Value: tenant}, storage.Part{Tag: storage.App, Value: "app"}, storage.Part{Tag: storage.Store, Value: "s"})
}

func itemKey(tenant string, i int) storage.Key {
	return storePrefix(tenant).With(storage.Part{Tag: storage.Item, Value: fmt.Sprintf("k%d", i)})
}

// runner executes a program in a transaction and records the results in a trace.
type runner struct {
	tenant string
	tx     transaction
	trace  []string
	// seen is called after each step, unless "seen" is nil. If "seen" returns an error, the program
	// ends.
	seen func() error
	// expect is the trace of another execution, or nil. If an update succeeded in the other
	// execution, the update must also succeed in this execution.
	expect []string
}

func (r *runner) note(format string, args ...any) error {
	r.trace = append(r.trace, fmt.Sprintf(format, args...))
	if r.seen != nil {
		return r.seen()
	}
	return nil
}

func (r *runner) run(p program) error {
	for _, s := range p.steps {
		if err := r.step(s); err != nil {
			return err
		}
	}
	if p.throw {
		return errThrown
	}
	return nil
}

func (r *runner) step(s step) error {
	key := itemKey(r.tenant, s.key)
	switch s.op {
	case "get":
		got, err := r.tx.get(key)
		if err != nil {
			return err
		}
		return r.note("%s", show(got))
	case "scan":
		after := storage.Key("")
		if s.key > 0 {
			after = key
		}
		rows, err := r.tx.scan(storePrefix(r.tenant), after, s.n)
		if err != nil {
			return err
		}
		var text []string
		for _, row := range rows {
			text = append(text, show(row))
		}
		return r.note("[%s]", strings.Join(text, "; "))
	case "nested":
		err := r.tx.nested(func() error { return r.run(s.inner) })
		if err != nil && err != errThrown {
			return err
		}
		return r.note("nested %v", err)
	}
	err := r.tx.apply(key, r.update(s))
	if at := len(r.trace); err == errRejected && at < len(r.expect) && strings.HasSuffix(r.expect[at], "<nil>") {
		err = nil // the update was blind, and the record has changed since the update
	}
	if err != nil && err != errRejected {
		return err
	}
	return r.note("%s %v", s.op, err)
}

// update returns the txn.Update for a step of a program.
func (r *runner) update(s step) func(*storage.Record, bool) (txn.State, any, error) {
	digest, now := r.digest(), r.tx.now()
	return func(old *storage.Record, locked bool) (txn.State, any, error) {
		if locked && s.n%2 == 0 {
			return txn.State{}, nil, errRejected // simulates a slow update
		}
		next := txn.State{Expires: old.Expires, Tags: old.Tags}
		text := string(old.Content)
		switch s.op {
		case "append":
			next.Content = []byte(text + fmt.Sprint(s.n))
		case "set":
			next.Content, next.Expires, next.Tags = []byte(fmt.Sprint("v", s.n)), time.Time{}, nil
			if s.session != "" {
				next.Tags = []string{"session/" + s.session}
			}
		case "digest":
			next.Content = []byte(digest)
		case "expire":
			next.Content, next.Expires = []byte(text+"e"), now.Add(time.Duration(s.n)*time.Second)
		case "create":
			if old.Exists() {
				return txn.State{}, nil, errRejected
			}
			next.Content = []byte("new")
		case "short":
			if len(text) > 3 {
				return txn.State{}, nil, errRejected
			}
			next.Content = []byte(text + "s")
		}
		return next, s.op, nil // delete: no content
	}
}

// digest returns a hash of the trace.
func (r *runner) digest() string {
	h := fnv.New32a()
	for _, line := range r.trace {
		h.Write([]byte(line))
	}
	return fmt.Sprintf("d%x", h.Sum32())
}

func pick[T any](rng *rand.Rand, from ...T) T { return from[rng.IntN(len(from))] }

func randomProgram(rng *rand.Rand, depth int) program {
	p := program{throw: rng.IntN(8) == 0}
	if depth > 0 {
		p.throw = rng.IntN(2) == 0
	}
	for range 1 + rng.IntN(5) {
		p.steps = append(p.steps, randomStep(rng, depth))
	}
	if rng.IntN(2) == 0 {
		p.steps = append(p.steps, step{op: "digest", key: rng.IntN(itemCount)})
	}
	return p
}

func randomStep(rng *rand.Rand, depth int) step {
	s := step{key: rng.IntN(itemCount), n: 1 + rng.IntN(9)}
	s.op = pick(rng, "get", "get", "get", "scan", "append", "append", "set", "delete", "create", "short", "expire", "digest", "nested")
	switch {
	case s.op == "nested" && depth == 2:
		s.op = "append"
	case s.op == "nested":
		s.inner = randomProgram(rng, depth+1)
	case s.op == "scan":
		s.n = 1 + rng.IntN(3)
		if rng.IntN(2) == 0 {
			s.key, s.n = 0, 9
		}
	case s.op == "set" && rng.IntN(2) == 0:
		s.session = "s1"
	case s.op == "expire":
		s.n = pick(rng, 1, 60)
	}
	return s
}
