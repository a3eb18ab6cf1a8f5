package main

import (
	"regexp"
	"slices"
	"strings"
)

// finding is a phrase or a name that must be replaced.
type finding struct {
	rule string
	file string
	line int
	text string // the line that contains the phrase, or the name
	use  string // the replacement
}

// phrase is a rule about prose.
type phrase struct {
	rule    string
	pattern *regexp.Regexp
	allowed func(before, after string) bool // reports whether a match is correct; nil if no match is correct
	use     string
}

// gap matches the space between two words: spaces, or the end of a line and the comment marker of
// the next line.
const gap = `(?:[ \t]+|[ \t]*\n[ \t]*(?://|#|\*|>)?[ \t]*)`

// phrases lists the rules for prose. Each rule is derived from a sentence that native speakers had
// to read twice.
var phrases = []phrase{
	{
		rule:    "told",
		pattern: regexp.MustCompile(`(?i)\b(?:told|tell|tells|telling)\b`),
		use:     "data reports, contains, returns, shows; people are informed by a message or an error",
	},
	{
		rule:    "is-no",
		pattern: regexp.MustCompile(`(?i)\b(?:is|are|was|were)` + gap + `no\b`),
		allowed: func(before, after string) bool {
			good := []string{"longer", "more", "less", "fewer", "later", "earlier", "matter"}
			return strings.EqualFold(before, "there") || slices.Contains(good, strings.ToLower(after))
		},
		use: "is not a ..., are not ...; or: has no ...",
	},
	{
		rule:    "there-is-no",
		pattern: regexp.MustCompile(`(?i)\bthere` + gap + `is` + gap + `no\b`),
		use:     "no X exists, without an X, the Y has no X",
	},
	{
		rule:    "pronoun",
		pattern: regexp.MustCompile(`(?m)^[ \t]*(?://|#|/\*\*|\*|""")[ \t]*[A-Za-z_][\w.]*(?:\(\))? (?:is|are) (?:what|those|that|whoever|whom|where|which)\b`),
		use:     "X is a <noun> that ...; for a function: X returns, reports, does ...",
	},
	{
		rule:    "alone",
		pattern: regexp.MustCompile(`(?i)\balone\b`),
		use:     "only X",
	},
	{
		rule:    "nobody",
		pattern: regexp.MustCompile(`(?i)\b(?:nobody|somebody|whoever|none of|it is none)\b`),
		use:     "name the actor: no caller, a client, any user; or use the passive",
	},
	{
		rule:    "beside",
		pattern: regexp.MustCompile(`(?i)\bbeside\b`),
		use:     "besides, in addition to, next to, as well as",
	},
	{
		rule:    "relation",
		pattern: regexp.MustCompile(`(?i)\b(?:whose .{1,20} (?:it is|they are)|in the hands of|has to say|says so|may take|more than (?:it|they) may)\b`),
		use:     "a noun for the relation (owner, limit, report); limits are exceeded",
	},
}

// wordBefore and wordAfter match the words around a phrase. Comment markers may separate these
// words from the phrase.
var (
	wordBefore = regexp.MustCompile(`(\w+)[\s/#*>]*$`)
	wordAfter  = regexp.MustCompile(`^[\s/#*>]*(\w+)`)
)

// The function "last" returns the last element of a match, or "".
func last(match []string) string {
	if len(match) == 0 {
		return ""
	}
	return match[len(match)-1]
}

// find returns the matches of the phrase in a file.
func (p phrase) find(f sourceFile) (found []finding) {
	for _, at := range p.pattern.FindAllStringIndex(f.text, -1) {
		before := wordBefore.FindStringSubmatch(f.text[max(0, at[0]-50):at[0]])
		after := wordAfter.FindStringSubmatch(f.text[at[1]:min(len(f.text), at[1]+50)])
		if p.allowed != nil && p.allowed(last(before), last(after)) {
			continue
		}
		match := f.text[at[0]:at[1]]
		start := at[0] + len(match) - len(strings.TrimLeft(match, " \t\n"))
		found = append(found, finding{p.rule, f.name, lineOf(f.text, start), lineAt(f.text, start), p.use})
	}
	return found
}

func lineOf(text string, at int) int { return 1 + strings.Count(text[:at], "\n") }

// lineAt returns the line at a position, truncated to fit on a terminal.
func lineAt(text string, at int) string {
	start := strings.LastIndexByte(text[:at], '\n') + 1
	line, _, _ := strings.Cut(text[start:], "\n")
	line = strings.TrimSpace(line)
	if len(line) > 120 {
		line = strings.ToValidUTF8(line[:120], "") + "..."
	}
	return line
}
