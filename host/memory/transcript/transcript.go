package transcript

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolrun/toolrun/host/storage"
)

// These constants limit a transcript. If a new message would exceed MaxMessages or MaxBytes, the
// oldest messages are dropped.
const (
	// MaxMessages is the maximum number of messages.
	MaxMessages = 200
	// MaxBytes is the maximum total size of the texts of the messages.
	MaxBytes = 64 << 10
	// MaxMessageBytes is the maximum size of the text of one message. If a text is longer, it is
	// truncated.
	MaxMessageBytes = 16 << 10
)

// The roles of messages.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
)

// Message is a message of a conversation.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	// Agent is the agent that was active when the message was recorded. Without an active agent,
	// Agent is "".
	Agent string `json:"agent,omitempty"`
	// At is the time at which the message was recorded.
	At time.Time `json:"at"`
}

// State is the stored form of a transcript of a session.
type State struct {
	// Last is the number of the message that was recorded last in the session. The first message
	// has the number 1. If a transcript has expired, the numbers of the next transcript start at 1
	// again.
	Last int64 `json:"last"`
	// Began is the time of the transcript's first message. An earlier transcript of the same
	// session may have expired. Began distinguishes the transcript from this earlier transcript.
	Began time.Time `json:"began,omitzero"`
	// Messages contains the messages that have not been processed. The oldest message is the first.
	Messages []Message `json:"messages"`
	// Dropped is the number of messages that were dropped because of the limits before they were
	// processed.
	Dropped int64 `json:"dropped,omitempty"`
	// Agent is the agent that was active last. If no agent was active, Agent is "".
	Agent string `json:"agent,omitempty"`
	// Used is the time of the last message in the transcript.
	Used time.Time `json:"used"`
	// Ended is true if the session has ended.
	Ended bool `json:"ended,omitempty"`
	// Due is the time for which the next run is scheduled, and is part of the key of the record in
	// the queue. If no run is scheduled, Due is the zero time.
	Due time.Time `json:"due,omitzero"`
}

// Decode decodes a stored transcript. If the content is empty, Decode returns the zero State. If
// the content is invalid, the error is storage.ErrCorrupt.
func Decode(content []byte) (State, error) {
	var s State
	if content == nil {
		return s, nil
	}
	if err := json.Unmarshal(content, &s); err != nil {
		return s, fmt.Errorf("transcript: %w: %w", storage.ErrCorrupt, err)
	}
	return s, nil
}

// Append adds messages that were recorded at a given time. If the transcript then exceeds its
// limits, Append drops the oldest messages. Append ignores messages without text.
func (s *State) Append(at time.Time, agent string, messages ...Message) {
	for _, m := range messages {
		if m.Content = truncate(m.Content); m.Content == "" {
			continue
		}
		if m.Agent == "" {
			m.Agent = agent
		}
		if m.At = at; s.Last == 0 {
			s.Began = at
		}
		s.Messages = append(s.Messages, m)
		s.Last++
		s.Used = at
	}
	if agent != "" {
		s.Agent = agent
	}
	s.trim()
}

// trim drops the oldest messages until the transcript is within its limits.
func (s *State) trim() {
	bytes, first := 0, len(s.Messages)
	for first > 0 && len(s.Messages)-first < MaxMessages {
		if bytes += len(s.Messages[first-1].Content); bytes > MaxBytes {
			break
		}
		first--
	}
	s.Dropped += int64(first)
	s.Messages = append([]Message(nil), s.Messages[first:]...)
}

// Keep drops all messages except the last n messages. The result reports whether Keep dropped
// messages.
func (s *State) Keep(n int) bool {
	first := max(len(s.Messages)-n, 0)
	s.Dropped += int64(first)
	s.Messages = append([]Message(nil), s.Messages[first:]...)
	return first > 0
}

// truncate limits a text to MaxMessageBytes and replaces invalid UTF-8.
func truncate(text string) string {
	if len(text) > MaxMessageBytes {
		cut := MaxMessageBytes
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut]
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// Finish removes messages that have been processed. Finish keeps the number of the last message.
// Therefore later messages of the session get new numbers.
func (s *State) Finish() { s.Messages, s.Dropped, s.Due = nil, 0, time.Time{} }

// SettlesAt returns the time at which the conversation counts as settled. If the session has ended,
// the conversation has settled.
func (s *State) SettlesAt(after time.Duration) time.Time {
	if s.Ended {
		return s.Used
	}
	return s.Used.Add(after)
}
