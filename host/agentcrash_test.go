package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
)

// crashTurns performs one turn after the other until the process is killed.
func crashTurns(h *host.Host, user string, say func(string, ...any)) error {
	for {
		result, err := h.Agents().Turn(context.Background(), host.Turn{Caller: host.Caller{User: user, Session: "of-" + user}})
		if err != nil {
			return err
		}
		n, ok := result.Variables["n"].(float64)
		if !ok {
			return fmt.Errorf("the variables are %v", result.Variables)
		}
		say("ack %s {\"n\":%d}", user, int(n))
	}
}

// TestKilledTurns kills processes while they perform turns. A turn changes a session variable and a
// fact, and the agent's tool writes two stores. After a kill, all four values must come from the
// same turn. The turn in the stored state must not be older than the last acknowledged turn.
func TestKilledTurns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "crash.db")
	last := map[string]int{}
	acks, between := 0, 0
	for acks < 300 || between < 5 {
		log := crashOnce(t, path, "turns", 20+rand.IntN(50))
		acks += log.acks
		h, closeAll, err := openCrash(path)
		if err != nil {
			t.Fatal(err)
		}
		for worker := range crashWorkers {
			user := fmt.Sprintf("user%d", worker)
			last[user] = max(last[user], log.acked[user])
			variable, fact, left, right := readTurn(t, h, user)
			if variable != fact || variable != left || left != right || variable < last[user] {
				t.Errorf("%s: the variable is %d, the fact %d, the stores %d and %d; want the same, at least %d", user, variable, fact, left, right, last[user])
			}
			if log.wrote[user] > log.acked[user] {
				between++
			}
		}
		if err := closeAll(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d acknowledged turns, %d turns killed between a write and their result", acks, between)
}

// readTurn reads the four values that a turn writes.
func readTurn(t *testing.T, h *host.Host, user string) (variable, fact, left, right int) {
	t.Helper()
	c := host.Caller{User: user, Session: "of-" + user}
	if err := json.Unmarshal([]byte(content(t, h, c, abi.GetFact, "user.n")), &fact); err != nil {
		t.Fatal(err)
	}
	caller := partition.Caller{Tenant: host.DefaultTenant, User: c.User, Session: c.Session, Run: "read"}
	_, err := h.Memory().Transact(context.Background(), &memory.Tx{Caller: caller, ReadOnly: true}, func(ctx context.Context, v *memory.View) error {
		text, err := v.AgentState(ctx, "Crash")
		if err != nil || text == nil {
			return err
		}
		var state struct{ Variables struct{ N int } }
		err = json.Unmarshal(text, &state)
		variable = state.Variables.N
		return err
	})
	if err != nil && !errors.Is(err, abi.NotFound) {
		t.Fatal(err)
	}
	return variable, fact, readN(t, h, user, "left"), readN(t, h, user, "right")
}
