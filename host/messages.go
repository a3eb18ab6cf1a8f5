package host

import (
	"context"
	"errors"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/memory/transcript"
)

// Message is a message of a conversation. A platform that has its own agents records its messages
// with AddMessages.
type Message struct {
	// Role is "user" or "assistant".
	Role string `json:"role"`
	// Content is the text of the message.
	Content string `json:"content"`
}

// maxMessages is the maximum number of messages in one call of AddMessages.
const maxMessages = 100

// AddMessages adds messages to the transcript of the caller's session, which sleep-time memory
// reads. AddMessages is intended for platforms that have their own agents. If an agent was active,
// Caller.Agent must be its id. A turn adds its messages itself, so it does not need AddMessages. If
// the session does not exist, AddMessages starts it. AddMessages returns the number of added
// messages. AddMessages does not add messages without text. If the caller has no user, AddMessages
// stores nothing and returns 0. The number of messages in a transcript is bounded. If there are
// more messages, the oldest messages are dropped. If the messages exceed a quota, older messages
// are also dropped. If the new messages exceed the quota even without older messages, the error is
// abi.QuotaExceeded.
func (s Sessions) AddMessages(ctx context.Context, caller Caller, messages []Message) (added int, err error) {
	if s.h.app.Sleep == nil {
		return 0, errNoSleep
	}
	checked, err := checkMessages(caller, messages)
	if err != nil {
		return 0, err
	}
	id, err := s.h.newID("op")
	if err != nil {
		return 0, err
	}
	done, err := s.h.memory.Transact(ctx, &memory.Tx{Caller: caller.as(id)}, func(ctx context.Context, v *memory.View) (err error) {
		added, err = memory.RecordMessages(ctx, v, caller.Agent, checked, s.h.app.Sleep.After)
		return err
	})
	s.h.ledger.recordAct(caller, id, actMessages, done.Effects, err)
	if err != nil {
		return 0, err
	}
	return added, nil
}

func checkMessages(caller Caller, messages []Message) ([]transcript.Message, error) {
	switch {
	case caller.Session == "":
		return nil, abi.Faultf(abi.NoSession, "messages belong to a session, but the caller has no session")
	case len(messages) == 0 || len(messages) > maxMessages:
		return nil, abi.Faultf(abi.InvalidArgument, "the request has %d messages; the number must be from 1 to %d", len(messages), maxMessages)
	}
	added := make([]transcript.Message, len(messages))
	for i, m := range messages {
		if m.Role != transcript.RoleUser && m.Role != transcript.RoleAssistant {
			return nil, abi.Faultf(abi.InvalidArgument, "messages[%d].role is unknown", i).WithHint("use the role \"user\" or \"assistant\"")
		}
		added[i] = transcript.Message{Role: m.Role, Content: m.Content}
	}
	return added, nil
}

// recordMessages adds the messages of a turn to the transcript of the session. The messages are
// added in the turn's transaction. The transcript does not contain the sensitive values of the
// agent, because a model can read the transcript. If the messages exceed a quota, the turn
// nevertheless succeeds, with a warning. A lack of space for the transcript must not end the
// conversation.
func recordMessages(ctx context.Context, t *turn, v *memory.View) error {
	if t.h.app.Sleep == nil || t.inv.DryRun {
		return nil
	}
	var messages []transcript.Message
	add := func(role, text string) {
		messages = append(messages, transcript.Message{Role: role, Content: t.last.clean(text), Agent: t.info.Agent})
	}
	if t.req.Message != nil {
		add(transcript.RoleUser, *t.req.Message)
	}
	for _, text := range t.last.outcome.Messages {
		add(transcript.RoleAssistant, text)
	}
	_, err := memory.RecordMessages(ctx, v, t.last.outcome.Agent, messages, t.h.app.Sleep.After)
	if !errors.Is(err, abi.QuotaExceeded) {
		return err
	}
	t.info.UnrecordedMessages = len(messages)
	t.last.warnings = append(t.last.warnings, unrecordedWarning)
	return nil
}

// unrecordedWarning is the warning in the result of a turn whose messages exceed a storage quota.
const unrecordedWarning = "sleep-time memory does not receive the messages of this turn, because the transcript would exceed a storage quota"

// settle schedules the run of sleep-time memory for a session that has ended. If settle fails, it
// logs a warning. The run then starts later, as if the session had become idle without being ended.
func (s Sessions) settle(ctx context.Context, caller Caller, user string) {
	if s.h.app.Sleep == nil || user == "" {
		return
	}
	if err := memory.NewSleepQueue(s.h.memory).End(ctx, caller.as("").Tenant, user, caller.Session); err != nil {
		s.h.log.Warn("cannot schedule the run of sleep-time memory for an ended session", "app", s.h.app.ID, "error", err)
	}
}
