package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
)

// minSecretChars is the minimum length of the sensitive values that are found inside of other texts. A
// shorter one would hide parts of unrelated texts.
const minSecretChars = 4

// maxSecrets is the maximum number of sensitive values of a turn that are found inside of other texts.
const maxSecrets = 1000

// secrets are the sensitive values that a turn has used. They are replaced in warnings, faults and the
// trace, which can contain them under another name: a tool can repeat its input in an error.
type secrets []secret

type secret struct {
	text, display string
}

// hide adds a value that a name of the agent declares as sensitive.
func (l *log) hide(name string, value any) {
	if len(l.agent.masks) == 0 || value == nil {
		return
	}
	sensitive := l.agent.masks.find(name)
	if sensitive == "" {
		return
	}
	declared := l.agent.masks[sensitive]
	walkScalars(value, func(scalar any) {
		text, _ := scalarText(scalar)
		_, isBool := scalar.(bool)
		if isBool || utf8.RuneCountInString(text) < minSecretChars || len(l.secrets) >= maxSecrets {
			return
		}
		shown, _ := display(scalar, declared, sensitive).(string)
		s := secret{text, shown}
		if !slices.Contains(l.secrets, s) {
			l.secrets = append(l.secrets, s)
		}
	})
}

// walkScalars calls visit for all values in a value that are not arrays or objects.
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

// clean replaces the secrets in a text. A longer secret is replaced before a part of it.
func (s secrets) clean(text string) string {
	for _, secret := range s {
		text = strings.ReplaceAll(text, secret.text, secret.display)
	}
	return text
}

// sorted orders secrets for clean.
func (s secrets) sorted() secrets {
	slices.SortStableFunc(s, func(a, b secret) int { return len(b.text) - len(a.text) })
	return s
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
		for key := range v {
			v[key] = s.cleanValue(v[key])
		}
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
	if cleaned.Message == f.Message && cleaned.Hint == f.Hint && cleaned.Stack == f.Stack {
		return err
	}
	return &cleaned
}

// clean replaces the secrets of the turn in its warnings and its trace.
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
