package agent

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/report"
)

// These limits apply to the report of a turn.
const (
	// MaxMessages is the maximum number of messages of a turn. MaxMessagesBytes is the maximum
	// total size of the messages of a turn. MaxWarnings is the maximum number of warnings of a
	// turn.
	MaxMessages      = 100
	MaxMessagesBytes = 1 << 20
	MaxWarnings      = 100
	// MaxWarningBytes is the approximate maximum size of a warning. A longer warning is truncated.
	MaxWarningBytes = 4 << 10
	// MaxTrace is the maximum number of entries in the trace of a turn. Further entries are
	// dropped.
	MaxTrace = 1000
	// MaxTraceValueBytes is the maximum size of a value in the trace. If the JSON of a value is
	// larger, the trace contains the start of the JSON, as a string.
	MaxTraceValueBytes = 1 << 10
	// maxTraceBytes is the maximum total size of all values in the trace of a turn. When this size
	// is reached, further entries have no value.
	maxTraceBytes = 256 << 10
)

// log collects the messages, the warnings and the trace of a turn. Each warning and each entry of
// the trace has a position in the file of the agent that was active.
type log struct {
	agent   *program
	outcome *report.Outcome
	secrets secrets
	// message is the message of the user, if the whole message is hidden. The set "short" contains
	// the sensitive values that have fewer than minSecretChars characters. A short sensitive value
	// is replaced only in a text that is equal to the value.
	message string
	short   map[string]bool
	// traceBytes is the total size of all values in the trace. messageBytes is the total size of
	// all messages.
	traceBytes, messageBytes int
	// isResult reports for each message whether the message is a result. Constraints that have
	// "BEFORE: returning results" apply only to results. Questions are not results, and messages of
	// constraints are not results.
	isResult []bool
}

// prefix returns a position as the start of a message.
func (l *log) prefix(at abl.Position) string { return l.agent.File + ":" + at.String() + ": " }

// faultf returns a fault. The position of the fault is in the file of the agent. The fields of the
// fault contain the position, and the message of the fault does not. Therefore, a program that
// prints the message and the fields prints the position only once.
func (l *log) faultf(at abl.Position, code abi.Code, format string, args ...any) *abi.Fault {
	f := abi.Faultf(code, format, args...)
	f.File, f.Line, f.Column = l.agent.File, at.Line, at.Column
	return f
}

// place returns a position in the form FILE:LINE.
func (l *log) place(at abl.Position) string {
	if at.Line == 0 {
		return l.agent.File
	}
	return l.agent.File + ":" + strconv.Itoa(at.Line)
}

// note adds an entry to the trace.
func (l *log) note(entry report.Trace) {
	if len(l.outcome.Trace) >= MaxTrace {
		return
	}
	if l.traceBytes += len(entry.Value); l.traceBytes > maxTraceBytes {
		entry.Value = nil
	}
	l.outcome.Trace = append(l.outcome.Trace, entry)
}

// shownJSON returns the JSON of a value in its display form for the trace. The size of the JSON is
// limited. If the trace is full, shownJSON returns nil.
func (m *memory) shownJSON(path string, value any) json.RawMessage {
	if len(m.log.outcome.Trace) >= MaxTrace {
		return nil
	}
	if len(m.agent.masks)+len(m.log.secrets) == 0 {
		if size, _ := sizeOf(value, largeTraceValue, 0); size > largeTraceValue {
			return startOf(value)
		}
	}
	content, err := json.Marshal(abl.Plain(m.agent.shown(path, value)))
	if err != nil {
		return nil
	}
	if len(content) <= MaxTraceValueBytes {
		return content
	}
	start := m.log.secrets.sorted().start(content, MaxTraceValueBytes/4) // secrets are replaced before truncation
	cut, err := json.Marshal(fmt.Sprintf("%s... (%d bytes)", start, len(content)))
	if err != nil {
		return nil
	}
	return cut
}

// largeTraceValue is the size above which only the start of a value is encoded for the trace.
const largeTraceValue = 16 << 10

// startOf returns a JSON string that contains the start of the JSON of a large value.
func startOf(value any) json.RawMessage {
	rest := MaxTraceValueBytes
	content, err := json.Marshal(head(value, &rest))
	if err != nil {
		return nil
	}
	start := strings.ToValidUTF8(string(content[:min(len(content), MaxTraceValueBytes/4)]), "")
	cut, err := json.Marshal(fmt.Sprintf("%s... (more than %d bytes)", start, largeTraceValue))
	if err != nil {
		return nil
	}
	return cut
}

// head returns a copy of the first parts of a value. The size of this copy is at most "rest" bytes.
func head(value any, rest *int) any {
	switch value := value.(type) {
	case string:
		value = value[:min(len(value), max(*rest, 0))]
		*rest -= len(value)
		return value
	case []any:
		var items []any
		for i := 0; i < len(value) && *rest > 0; i++ {
			*rest -= 2
			items = append(items, head(value[i], rest))
		}
		return items
	case map[string]any:
		members := map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if *rest -= len(key) + 4; *rest <= 0 {
				break
			}
			members[key] = head(value[key], rest)
		}
		return members
	}
	return value
}

// warnf adds a warning to the turn. If the turn already has an equal warning, warnf adds nothing.
func (l *log) warnf(at abl.Position, format string, args ...any) {
	if len(l.outcome.Warnings) >= MaxWarnings {
		return
	}
	warning := l.prefix(at) + fmt.Sprintf(format, args...)
	if len(warning) > MaxWarningBytes {
		warning = l.secrets.sorted().start([]byte(warning), MaxWarningBytes) + "..."
	}
	if !slices.Contains(l.outcome.Warnings, warning) {
		l.outcome.Warnings = append(l.outcome.Warnings, warning)
	}
}

func (l *log) warnings(list []abl.Warning) {
	for _, w := range list {
		l.warnf(w.Position, "%s", w.Message)
	}
}

// say adds a message for the user that is a result.
func (l *log) say(at abl.Position, message string) error { return l.add(at, message, true) }

// ask adds a message for the user that is not a result, such as a question.
func (l *log) ask(at abl.Position, message string) error { return l.add(at, message, false) }

func (l *log) add(at abl.Position, message string, isResult bool) error {
	n := len(l.outcome.Messages)
	if n >= MaxMessages {
		return l.faultf(at, abi.CallLimit, "the turn sends more than %d messages", MaxMessages).
			WithHint("combine messages, or wait for input with GATHER or ON_INPUT; this limit is fixed")
	}
	if err := l.size(at, message); err != nil {
		return err
	}
	l.outcome.Messages = append(l.outcome.Messages, message)
	l.isResult = append(l.isResult[:n], isResult) // a failed hook can have removed messages
	return nil
}

// size returns a fault if one more message would exceed the maximum total size of the messages.
func (l *log) size(at abl.Position, message string) error {
	if l.messageBytes += len(message); l.messageBytes > MaxMessagesBytes {
		return l.faultf(at, abi.TooLarge, "the messages of the turn are larger than %d bytes", MaxMessagesBytes)
	}
	return nil
}

// hasResult reports whether any message from the given index on is a result.
func (l *log) hasResult(from int) bool {
	return slices.Contains(l.isResult[from:len(l.outcome.Messages)], true)
}

// withdraw removes the results among the messages from the given index on.
func (l *log) withdraw(from int) {
	kept := l.outcome.Messages[:from]
	for i, message := range l.outcome.Messages[from:] {
		if !l.isResult[from+i] {
			l.isResult[len(kept)] = false
			kept = append(kept, message)
		}
	}
	l.outcome.Messages = kept
}

// unhandled returns the fault of a turn in which a tool has failed and no ON_FAIL handles this
// failure. The fault contains the position in the source of the tool or, if this position is
// unknown, the position of the call.
func (l *log) unhandled(tool abl.Name, fault *abi.Fault) *abi.Fault {
	f := *fault
	if f.File == "" {
		f.Message = fmt.Sprintf("the call to %s failed: %s", tool.Value, fault.Message)
		f.File, f.Line, f.Column = l.agent.File, tool.Line, tool.Column
		return &f
	}
	f.Message = fmt.Sprintf("the call to %s at %s:%s failed: %s", tool.Value, l.agent.File, tool.Position, fault.Message)
	return &f
}

// reasonOf returns the message of a fault, for use in a warning at a given position. If the
// position of the fault is not the given position, the returned message contains the position of
// the fault.
func (l *log) reasonOf(fault *abi.Fault, at abl.Position) string {
	if fault.File == "" || fault.File == l.agent.File && fault.Line == at.Line {
		return fault.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", fault.File, fault.Line, fault.Column, fault.Message)
}
