package js

import (
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// Some errors of goja contain Go values, which can include heap addresses. The patterns below match
// the texts of such errors.
var (
	unprimitive   = lazyregexp.New(`(?s)Could not convert &\{.*\} (?:\(\*goja\.\w+\) )?to primitive`)
	formatFailed  = lazyregexp.New(`(?s)%!\w\((?:PANIC=.*|MISSING|[\w.*]+=[^()]*)\)`)
	regexpInvalid = lazyregexp.New(`(?s)Invalid regular expression \((?:re2|regexp2)\): (.*?) \(((?:Invalid regular expression \(|error parsing regexp).*)\)$`)
	regexpFlags   = lazyregexp.New(`(?s)^\(\?[ims]+:(.*)\)$`)
)

// cleanText removes Go values and Go's messages from the text of an error. The map "sources"
// contains the author's expression for each rewritten regular expression.
func cleanText(text string, sources map[string]string) string {
	text = strings.ReplaceAll(text, "a dynamic object", "this object") // goja's name for a lazyObject
	if !strings.Contains(text, "&{") && !strings.Contains(text, "%!") && !strings.Contains(text, "(re") {
		return text
	}
	text = unprimitive().ReplaceAllLiteralString(text, "Cannot convert object to primitive value")
	text = formatFailed().ReplaceAllLiteralString(text, "[object]")
	if strings.Contains(text, "(re") {
		for expanded, source := range sources {
			text = strings.ReplaceAll(text, expanded, source)
		}
	}
	if match := regexpInvalid().FindStringSubmatch(text); match != nil {
		pattern := match[1]
		if inner := regexpFlags().FindStringSubmatch(pattern); inner != nil {
			pattern = inner[1]
		}
		text = "Invalid regular expression: /" + pattern + "/: " + regexpReason(match[2])
	}
	return text
}

// regexpReasons converts messages of Go's regexp parsers to V8's messages. The keys are words in
// the messages of the parsers.
var regexpReasons = []struct{ word, reason string }{
	{"unterminated [", "Unterminated character class"},
	{"missing closing ]", "Unterminated character class"},
	{"missing closing )", "Unterminated group"},
	{"not enough )", "Unterminated group"},
	{"unexpected )", "Unmatched ')'"},
	{"too many )", "Unmatched ')'"},
	{"repetition", "Nothing to repeat"},
	{"quantifier", "Nothing to repeat"},
	{"reverse order", "Range out of order in character class"},
	{"invalid character class range", "Range out of order in character class"},
	{"undefined group", "Invalid named reference"},
	{"group name", "Invalid capture group name"},
	{"capture name", "Invalid capture group name"},
	{"end of pattern", `\ at end of pattern`},
	{"trailing backslash", `\ at end of pattern`},
	{"escape", "Invalid escape"},
}

func regexpReason(text string) string {
	_, text, _ = strings.Cut(strings.ToLower(text), "error parsing regexp: ")
	for _, quote := range []string{" in `", ": `"} {
		text, _, _ = strings.Cut(text, quote)
	}
	for _, r := range regexpReasons {
		if strings.Contains(text, r.word) {
			return r.reason
		}
	}
	return "Invalid pattern"
}

// errorCleaner removes Go's messages and heap addresses from the errors that a guest can see.
type errorCleaner struct {
	*realm
	regexps *regexps
	handler *goja.Object // wraps the handlers of rejections; nil before its first use
}

// text removes Go's messages from the text of an error.
func (c *errorCleaner) text(text string) string { return cleanText(text, c.regexps.texts()) }

// clean cleans the message and the stack of an error that goja created. It does not read inherited
// members.
func (c *errorCleaner) clean(thrown goja.Value) {
	object, ok := thrown.(*goja.Object)
	if !ok || object.ClassName() != "Error" || object.ExportType() == proxyType || !slices.Contains(object.GetOwnPropertyNames(), "message") {
		return
	}
	_ = c.vm.Try(func() {
		message, ok := object.Get("message").(goja.String)
		if !ok {
			return
		}
		text := message.String()
		if cleaned := c.text(text); cleaned != text {
			_ = object.DefineDataProperty("message", c.vm.ToValue(cleaned), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
			if stack, ok := object.Get("stack").(goja.String); ok { // the stack begins with the message
				renewed := strings.Replace(stack.String(), text, cleaned, 1)
				_ = object.DefineDataProperty("stack", c.vm.ToValue(renewed), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
			}
		}
	})
}
