package main

import (
	"bufio"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// entry is the key of a line of the budget.
type entry struct{ folder, rule string }

// budget contains the permitted number of findings for each folder and rule, with reasons.
type budget struct {
	allowed map[entry]int
	reason  map[entry]string
}

// parseBudget reads lines in the following form:
//
//	host/memory told 24
//	docs/explanation told 1 # quotes an error of the operating system
func parseBudget(text string) (budget, error) {
	b := budget{map[entry]int{}, map[entry]string{}}
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line, reason, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 3 || !slices.Contains(ruleNames(), fields[1]) {
			return b, fmt.Errorf("line %d: want the format `folder rule count # reason`", n)
		}
		count, err := strconv.Atoi(fields[2])
		if err != nil || count < 1 {
			return b, fmt.Errorf("line %d: the count %q is not a positive number", n, fields[2])
		}
		key := entry{fields[0], fields[1]}
		if _, twice := b.allowed[key]; twice {
			return b, fmt.Errorf("line %d: duplicate line for %s %s", n, key.folder, key.rule)
		}
		b.allowed[key], b.reason[key] = count, strings.TrimSpace(reason)
	}
	return b, lines.Err()
}

// exceeded returns a message for each folder and rule that exceeds its budget. The message lists
// the findings with replacements.
func (b budget) exceeded(found []finding) (messages []string) {
	byEntry := group(found)
	for _, key := range sortedEntries(byEntry) {
		here := byEntry[key]
		if len(here) <= b.allowed[key] {
			continue
		}
		var m strings.Builder
		fmt.Fprintf(&m, "%s has %d findings of the rule %q; its budget is %d:", key.folder, len(here), key.rule, b.allowed[key])
		for _, f := range here {
			fmt.Fprintf(&m, "\n%s", f)
		}
		messages = append(messages, m.String())
	}
	return messages
}

// lowered returns the budget for the current findings. lowered returns an error if the whole tree
// exceeds the budget of a rule. The check covers the whole tree, because findings can move between
// folders together with their files.
func (b budget) lowered(found []finding) (budget, error) {
	next := budget{map[entry]int{}, map[entry]string{}}
	for key, here := range group(found) {
		next.allowed[key], next.reason[key] = len(here), b.reason[key]
	}
	for _, rule := range ruleNames() {
		if now, before := next.total(rule), b.total(rule); now > before {
			return next, fmt.Errorf("the tree has %d findings of the rule %q; the budget is %d and must not grow", now, rule, before)
		}
	}
	return next, nil
}

func (b budget) total(rule string) (sum int) {
	for key, count := range b.allowed {
		if key.rule == rule {
			sum += count
		}
	}
	return sum
}

func (b budget) String() string {
	var text strings.Builder
	for _, key := range sortedEntries(b.allowed) {
		fmt.Fprintf(&text, "%s %s %d", key.folder, key.rule, b.allowed[key])
		if b.reason[key] != "" {
			fmt.Fprintf(&text, " # %s", b.reason[key])
		}
		text.WriteByte('\n')
	}
	return text.String()
}

func group(found []finding) map[entry][]finding {
	groups := map[entry][]finding{}
	for _, f := range found {
		key := entry{folderOf(f.file), f.rule}
		groups[key] = append(groups[key], f)
	}
	return groups
}

func sortedEntries[V any](m map[entry]V) []entry {
	return slices.SortedFunc(maps.Keys(m), func(a, b entry) int {
		return cmp.Or(strings.Compare(a.folder, b.folder), strings.Compare(a.rule, b.rule))
	})
}
