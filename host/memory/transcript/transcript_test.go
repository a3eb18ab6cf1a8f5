package transcript_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/toolrun/toolrun/host/memory/transcript"
	"github.com/toolrun/toolrun/host/storage"
)

var noon = time.Date(2026, 4, 30, 12, 0, 0, 0, time.UTC)

func say(text string) transcript.Message {
	return transcript.Message{Role: transcript.RoleUser, Content: text}
}

// TestAppend adds messages until the oldest messages are dropped. The number of a message must
// never be used for a second message.
func TestAppend(t *testing.T) {
	var s transcript.State
	for i := range transcript.MaxMessages + 5 {
		s.Append(noon, "support", say(fmt.Sprint(i)))
	}
	if len(s.Messages) != transcript.MaxMessages || s.Dropped != 5 || s.Last != transcript.MaxMessages+5 {
		t.Errorf("%d messages, %d dropped, last %d", len(s.Messages), s.Dropped, s.Last)
	}
	if s.Messages[0].Content != "5" || s.Messages[0].Agent != "support" || s.Agent != "support" || !s.Messages[0].At.Equal(noon) {
		t.Errorf("the first message is %+v, and the agent %q", s.Messages[0], s.Agent)
	}
	last := s.Last
	s.Finish()
	if len(s.Messages) != 0 || s.Dropped != 0 || s.Last != last {
		t.Errorf("after Finish: %d messages, %d dropped, last %d; want none, none, %d", len(s.Messages), s.Dropped, s.Last, last)
	}
}

// TestAppendBytes checks two limits: the total size of all messages, and the size of one message.
func TestAppendBytes(t *testing.T) {
	var s transcript.State
	long := strings.Repeat("ä", transcript.MaxMessageBytes) // two bytes each
	for range 10 {
		s.Append(noon, "", say(long))
	}
	total := 0
	for _, m := range s.Messages {
		if len(m.Content) > transcript.MaxMessageBytes || !utf8.ValidString(m.Content) || m.Content == "" {
			t.Fatalf("a message has %d bytes", len(m.Content))
		}
		total += len(m.Content)
	}
	if total > transcript.MaxBytes || int(s.Dropped)+len(s.Messages) != 10 || len(s.Messages) != 4 {
		t.Errorf("%d bytes in %d messages, %d dropped", total, len(s.Messages), s.Dropped)
	}
	s.Append(noon.Add(time.Hour), "", say(""))
	if s.Last != 10 || !s.Used.Equal(noon) {
		t.Errorf("an empty message was added: last %d, used %s", s.Last, s.Used)
	}
}

// TestAppendInvalid stores texts with invalid UTF-8, which JSON cannot represent.
func TestAppendInvalid(t *testing.T) {
	var s transcript.State
	s.Append(noon, "", say("a\xffb"))
	if got := s.Messages[0].Content; got != "a\uFFFDb" {
		t.Errorf("the message is %q", got)
	}
}

// TestSettlesAt checks that a conversation settles when the session ends. Without an end, the
// conversation settles after a time without messages.
func TestSettlesAt(t *testing.T) {
	var s transcript.State
	s.Append(noon, "", say("hello"))
	if got := s.SettlesAt(time.Minute); !got.Equal(noon.Add(time.Minute)) {
		t.Errorf("SettlesAt = %s", got)
	}
	if s.Ended = true; !s.SettlesAt(time.Minute).Equal(noon) {
		t.Error("an ended session has not settled")
	}
}

func TestDecodeInvalid(t *testing.T) {
	if _, err := transcript.Decode([]byte("[")); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("Decode = %v; want storage.ErrCorrupt", err)
	}
	if s, err := transcript.Decode(nil); err != nil || s.Last != 0 {
		t.Errorf("Decode(nil) = %+v, %v", s, err)
	}
}
