package memory_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
)

// program is the simulated code of a guest. The Service and the model execute the same program.
type program struct {
	steps []step
	// If stubborn is true, the guest reports success even after an error that ends the attempt.
	stubborn bool
}

// A step is a call, a throw or a branch.
type step struct {
	op    string
	args  []string
	catch bool
	// If digest is true, the step adds a member to the content. The step then writes the content.
	// The value of the member depends on all replies that the program has received. If revise is
	// true, the step sets the option "if_revision". The value of the option is the last revision in
	// the replies that the program has received.
	digest, revise bool
	throw          bool
	skip           int // steps that a branch skips if the digest of earlier replies is even
}

func (s step) String() string {
	switch {
	case s.throw:
		return "throw"
	case s.skip > 0:
		return fmt.Sprintf("maybe skip %d", s.skip)
	}
	text := s.op + "(" + strings.Join(s.args, ", ") + ")"
	for note, set := range map[string]bool{" +digest": s.digest, " +revision": s.revise, " catch": s.catch} {
		if set {
			text += note
		}
	}
	return text
}

// performer performs one call of a program. The result is the reply as canonical JSON, or an error.
// The error contains the code of a fault, or ends the attempt.
type performer func(op string, args []string) (reply string, code abi.Code, err error)

var errThrown = errors.New("thrown by the program")

// run executes the program and returns the replies to all calls. The reply to a failed call is "!",
// followed by the code of the fault. The error is errThrown, an error of the performer, or the code
// of a fault that the program did not catch.
func (p program) run(perform performer) (trace []string, err error) {
	for i := 0; i < len(p.steps); i++ {
		s := p.steps[i]
		switch {
		case s.throw:
			return trace, errThrown
		case s.skip > 0:
			if digest(trace)%2 == 0 {
				i += s.skip
			}
			continue
		}
		reply, code, err := perform(s.op, s.fill(trace))
		switch {
		case err != nil && p.stubborn:
			return trace, nil
		case err != nil:
			return trace, err
		case code == "":
			trace = append(trace, reply)
			continue
		}
		trace = append(trace, "!"+string(code))
		if !s.catch {
			return trace, code
		}
	}
	return trace, nil
}

func digest(trace []string) uint32 {
	h := fnv.New32a()
	for _, reply := range trace {
		h.Write([]byte(reply))
	}
	return h.Sum32() >> 4
}

// fill returns the arguments of a step. The arguments depend on previous results.
func (s step) fill(trace []string) []string {
	args := append([]string(nil), s.args...)
	if s.digest {
		args[1] = fmt.Sprintf(`{"b":%d,`, digest(trace)%5) + args[1][1:]
	}
	if s.revise {
		args[len(args)-1] = fmt.Sprintf(`{"if_revision":%d}`, lastRevision(trace))
	}
	return args
}

func lastRevision(trace []string) (revision int64) {
	for _, reply := range trace {
		var seen struct{ Revision *int64 }
		if json.Unmarshal([]byte(reply), &seen) == nil && seen.Revision != nil {
			revision = *seen.Revision
		}
	}
	return revision
}

// intSource is a source of random choices for the programs of a test.
type intSource interface{ IntN(n int) int }

var _ intSource = (*rand.Rand)(nil)

func choose[T any](d intSource, of ...T) T { return of[d.IntN(len(of))] }

func randomProgram(d intSource, stores []string) program {
	p := program{stubborn: d.IntN(4) == 0}
	for range 2 + d.IntN(5) {
		s := randomStep(d, `"`+choose(d, stores...)+`"`)
		s.catch = d.IntN(2) == 0
		p.steps = append(p.steps, s)
	}
	return p
}

func randomStep(d intSource, store string) step {
	switch n := d.IntN(100); {
	case n < 22:
		return step{op: abi.GetContent, args: []string{store, "", `{"record":true}`}}
	case n < 36:
		return step{op: abi.GetContent, args: []string{store}}
	case n < 42:
		return step{op: abi.GetContent, args: []string{store, choose(d, `{"a":1}`, `{"b":0}`, `{"x.y":1}`, `{"x":{"y":0}}`, `{"a":1,"x":1,"x.y":0}`)}}
	case n < 46:
		return step{op: abi.GetContent, args: []string{`"` + declare.SessionMeta + `"`, `{"metadata":1}`}}
	case n < 66:
		return step{op: abi.SetContent, args: []string{store, randomContent(d)}}
	case n < 74:
		return step{op: abi.SetContent, args: []string{store, `{"c":null}`}, digest: true}
	case n < 79:
		return step{op: abi.SetContent, args: []string{store, randomContent(d), choose(d, `{"ttl":"1m"}`, `{"ttl":"5m"}`, `{"ttl":"1h"}`)}}
	case n < 83:
		return step{op: abi.SetContent, args: []string{store, randomContent(d), `{"replace":true}`}}
	case n < 87:
		return step{op: abi.SetContent, args: []string{store, randomContent(d), ""}, revise: true}
	case n < 89:
		return step{op: abi.SetContent, args: []string{store, randomContent(d), `{"if_revision":0}`}}
	case n < 95:
		return step{op: abi.DeleteContent, args: []string{store}}
	case n < 96:
		return step{op: abi.DeleteContent, args: []string{store, ""}, revise: true}
	case n < 98:
		return step{throw: true}
	}
	return step{skip: 1 + d.IntN(2)}
}

func randomContent(d intSource) string {
	name := choose(d, "a", "b", "c")
	switch d.IntN(8) {
	case 0:
		return fmt.Sprintf(`{%q:null}`, name)
	case 1:
		return fmt.Sprintf(`{"x":{"y":%d,%q:[1,{"y":2}]}}`, d.IntN(4), name)
	case 2:
		return fmt.Sprintf(`{"a":%d,"c":%d}`, d.IntN(4), d.IntN(4))
	}
	return fmt.Sprintf(`{%q:%d}`, name, d.IntN(4))
}
