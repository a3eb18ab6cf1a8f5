package agent

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
)

// store evaluates the triggers of the agent that acts. A trigger stores its value if its condition
// holds and the value differs from the one that it last stored in the session.
func (r *rules) store(ctx context.Context) error {
	for i := range r.mem.agent.Memory.Triggers {
		trigger := &r.mem.agent.Memory.Triggers[i]
		holds, err := r.mem.holds(ctx, trigger.When)
		if err != nil {
			return err
		}
		if !holds {
			continue
		}
		value, err := r.mem.eval(ctx, trigger.Value)
		if err != nil {
			return err
		}
		sum := digest(value)
		if r.mem.state.Stored[i] == sum {
			continue
		}
		if err := r.mem.measure(trigger.Target, value); err != nil {
			return err
		}
		f := r.mem.agent.facts[trigger.Target.Value]
		if err := r.mem.setFact(ctx, trigger.Target, f, value, FactOptions{TTL: trigger.TTL, Domain: trigger.Domain}); err != nil {
			return err
		}
		r.log.note(Trace{Kind: "trigger", Name: trigger.Target.Value, Position: r.log.place(trigger.Position), Value: r.mem.shownJSON(trigger.Target.Value, value), Result: "stored"})
		if r.mem.state.Stored == nil {
			r.mem.state.Stored = map[int]string{}
		}
		r.mem.state.Stored[i] = sum
	}
	return nil
}

// digest returns a short text that differs for different values.
func digest(value any) string {
	content, _ := json.Marshal(value)
	sum := sha256.Sum256(content)
	return base64.RawStdEncoding.EncodeToString(sum[:12])
}
