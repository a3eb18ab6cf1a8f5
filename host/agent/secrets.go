package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
)

// minSecretChars is the minimum length of a sensitive value that is replaced within a longer text.
// Replacing shorter values there would hide parts of unrelated texts.
const minSecretChars = 4

// maxSecrets is the maximum number of sensitive values that a turn replaces in longer texts.
const maxSecrets = 1000

// secrets contains the sensitive values that a turn has used. Secrets are replaced in warnings, in
// faults and in the trace. Without the replacement, a fault could reveal a secret, because a tool
// can repeat its input in a fault.
type secrets []secret

type secret struct {
	text, display string
	// isMessage is true for the message of the user. If the message is equal to a declared secret,
	// the display form of the declared secret is used.
	isMessage bool
}

// hide adds a value to the secrets if the agent declares its name as sensitive.
func (l *log) hide(name string, value any) {
	l.secrets.add(l.agent.masks, name, value)
	if l.agent.masks.find(name) == "" {
		return
	}
	walkScalars(value, func(scalar any) {
		text, _ := scalarText(scalar)
		_, isBool := scalar.(bool)
		if text = strings.TrimSpace(text); isBool || text == "" || utf8.RuneCountInString(text) >= minSecretChars || len(l.short) >= maxSecrets {
			return
		}
		if l.short == nil {
			l.short = map[string]bool{}
		}
		l.short[text] = true
	})
}

// hideMessage hides the whole message of the user, even if the message is not accepted as a value.
// A rejected message can contain a sensitive value among other words.
func (l *log) hideMessage(message string) {
	message = strings.TrimSpace(message)
	if message == "" || l.message != "" {
		return
	}
	l.message = message
	if utf8.RuneCountInString(message) >= minSecretChars {
		l.secrets = append(l.secrets, secret{text: message, display: redacted, isMessage: true})
	}
}

// hideInput hides the message of the user, if the turn has one.
func hideInput(m *memory) {
	if message, ok := m.input.(string); ok {
		m.log.hideMessage(message)
	}
}

// hideAnswer hides the message of the user if the active agent waits for a field that is declared
// as sensitive.
func hideAnswer(m *memory) {
	if m.agent.masks.find(m.state.Collecting) != "" {
		hideInput(m)
	}
}

// add adds a value to the secrets if its name is declared as sensitive.
func (s *secrets) add(m masks, name string, value any) {
	sensitive := m.find(name)
	if sensitive == "" || value == nil {
		return
	}
	declared, known := m[sensitive], map[string]bool{}
	walkScalars(value, func(scalar any) {
		text, _ := scalarText(scalar)
		_, isBool := scalar.(bool)
		if isBool || known[text] || utf8.RuneCountInString(text) < minSecretChars || len(*s) >= maxSecrets {
			return
		}
		known[text] = true
		shown, _ := display(scalar, declared, sensitive).(string)
		found := secret{text: text, display: shown}
		if !slices.Contains(*s, found) {
			*s = append(*s, found)
		}
	})
}

// walkScalars calls the function "visit" for each scalar within a value.
func walkScalars(value any, visit func(any)) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			walkScalars(item, visit)
		}
	case map[string]any:
		for _, item := range v {
			walkScalars(item, visit)
		}
	default:
		visit(value)
	}
}

// span is a part of a text that is hidden, with the replacement for this part.
type span struct {
	start, end int
	display    string
}

// clean replaces the secrets in a text. clean does not search for secrets in the display forms that
// it inserts. If secrets overlap, they are replaced together, so no part of a secret remains.
func (s secrets) clean(text string) string {
	return replaceSpans(text, s.spans(text, len(text)), len(text))
}

// sorted returns the secrets in the order that the method "clean" needs. If several secrets begin
// at the same offset, the method "clean" replaces the longest of them.
func (s secrets) sorted() secrets {
	slices.SortStableFunc(s, func(a, b secret) int {
		if c := len(b.text) - len(a.text); c != 0 || a.isMessage == b.isMessage {
			return c
		}
		if a.isMessage {
			return 1
		}
		return -1
	})
	return s
}

// start returns the first bytes of JSON, after replacing the secrets. A secret that begins in these
// bytes can end after them, so the method also searches some of the following bytes.
func (s secrets) start(content []byte, size int) string {
	escaped := s
	for _, secret := range s {
		quoted, err := json.Marshal(secret.text)
		if text := string(quoted[1 : len(quoted)-1]); err == nil && text != secret.text {
			escaped = append(slices.Clip(escaped), secret)
			escaped[len(escaped)-1].text = text
		}
	}
	text := string(content)
	for size > 0 && size < len(text) && !utf8.RuneStart(text[size]) {
		size--
	}
	return replaceSpans(text, escaped.spans(text, size), size)
}

// spans searches the first bytes of a text. spans returns, in order, the spans of the secrets that
// begin in these bytes.
func (s secrets) spans(text string, size int) []span {
	var found []span
	for _, secret := range s {
		within := text[:min(len(text), size+len(secret.text))]
		for from := 0; ; {
			i := strings.Index(within[from:], secret.text)
			if i < 0 || from+i >= size {
				break
			}
			found = append(found, span{from + i, from + i + len(secret.text), secret.display})
			from += i + len(secret.text)
		}
	}
	slices.SortStableFunc(found, func(a, b span) int { return a.start - b.start }) // the longest secret at an offset is the first
	return found
}

// replaceSpans replaces the spans in a text, and returns the first bytes of the result.
// replaceSpans treats overlapping spans as one span.
func replaceSpans(text string, spans []span, size int) string {
	if len(spans) == 0 {
		return text[:size]
	}
	var b strings.Builder
	end := 0 // the end of the last span
	for _, s := range spans {
		if s.start < end {
			end = max(end, s.end)
			continue
		}
		b.WriteString(text[end:s.start] + s.display)
		end = s.end
	}
	if end < size {
		b.WriteString(text[end:size])
	}
	return b.String()
}

// cleanJSON replaces the secrets in the texts and numbers of JSON.
func (s secrets) cleanJSON(content json.RawMessage) json.RawMessage {
	if len(content) == 0 || !slices.ContainsFunc(s, func(secret secret) bool { return containsText(content, secret.text) }) {
		return content
	}
	var value any
	if err := json.Unmarshal(content, &value); err != nil {
		return nil
	}
	cleaned, err := json.Marshal(s.cleanValue(value))
	if err != nil {
		return nil
	}
	return cleaned
}

// containsText reports whether JSON contains a text, possibly with escapes.
func containsText(content []byte, text string) bool {
	if bytes.Contains(content, []byte(text)) {
		return true
	}
	quoted, err := json.Marshal(text)
	return err != nil || bytes.Contains(content, quoted[1:len(quoted)-1])
}

func (s secrets) cleanValue(value any) any {
	switch v := value.(type) {
	case string:
		return s.clean(v)
	case float64:
		text, _ := scalarText(v)
		if cleaned := s.clean(text); cleaned != text {
			return cleaned
		}
	case []any:
		for i := range v {
			v[i] = s.cleanValue(v[i])
		}
	case map[string]any:
		cleaned := make(map[string]any, len(v))
		for key, item := range v {
			cleaned[s.clean(key)] = s.cleanValue(item)
		}
		return cleaned
	}
	return value
}

// cleanFault replaces the secrets in the fault of an error.
func (s secrets) cleanFault(err error) error {
	var f *abi.Fault
	if len(s) == 0 || !errors.As(err, &f) {
		return err
	}
	cleaned := *f
	cleaned.Message, cleaned.Hint, cleaned.Stack = s.clean(f.Message), s.clean(f.Hint), s.clean(f.Stack)
	cleaned.Violations = slices.Clone(f.Violations)
	for i, v := range f.Violations {
		cleaned.Violations[i].Pointer = s.clean(v.Pointer)
	}
	if reflect.DeepEqual(cleaned, *f) {
		return err
	}
	return &cleaned
}

// hidden returns a text of a tool or of the conversation, after replacing the secrets that the turn
// has used so far. If the text is equal to the hidden message or to a short secret, the whole text
// is replaced.
func (l *log) hidden(text string) string {
	if whole := strings.TrimSpace(text); whole != "" && (whole == l.message || l.short[whole]) {
		return redacted
	}
	return l.secrets.sorted().clean(text)
}

// clean replaces the secrets of the turn in the warnings and the trace of the turn.
func (l *log) clean() {
	if len(l.secrets) == 0 {
		return
	}
	s := l.secrets.sorted()
	for i := range l.outcome.Warnings {
		l.outcome.Warnings[i] = s.clean(l.outcome.Warnings[i])
	}
	for i := range l.outcome.Trace {
		l.outcome.Trace[i].Value = s.cleanJSON(l.outcome.Trace[i].Value)
	}
}
