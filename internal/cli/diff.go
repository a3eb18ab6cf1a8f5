package cli

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// showChanges prints the changes that a dry run would have stored, grouped by store.
func showChanges(out *console, changes []report.Change) error {
	if len(changes) == 0 {
		return out.say("would store nothing")
	}
	for _, change := range changes {
		if err := showChange(out, change); err != nil {
			return err
		}
	}
	return nil
}

// recordName returns the name to display for a record. The name contains the store. If the store
// can have several records, the name also contains the item.
func recordName(store, item string) string {
	if item == "" {
		return store
	}
	return store + " " + strconv.Quote(item)
}

// showChange prints the differences between two versions of a record. Each difference is located by
// a JSON Pointer (RFC 6901).
func showChange(out *console, change report.Change) error {
	before, err := decodeContent(change.Before)
	if err != nil {
		return err
	}
	after, err := decodeContent(change.After)
	if err != nil {
		return err
	}
	differences := differ(nil, "", before, after)
	if content, ok := after.(map[string]any); ok && isNull(change.Before) && len(content) > 0 {
		differences = differObjects(nil, "", nil, content)
	}
	verb, end := "change", ":"
	switch {
	case isNull(change.Before):
		verb = "create"
	case isNull(change.After):
		verb = "delete"
	case len(differences) == 0:
		verb, end = "store", " again, unchanged"
	}
	if err := out.say("would %s %s%s", verb, recordName(change.Store, change.Item), end); err != nil {
		return err
	}
	for _, d := range differences {
		if err := showDifference(out, d); err != nil {
			return err
		}
	}
	return nil
}

func showDifference(out *console, d difference) error {
	value, err := strictjson.Encode(d.value)
	if err != nil {
		return err
	}
	s, at := green, d.at
	if d.sign == removed {
		s = red
	}
	if at != "" {
		at += ": "
	}
	line := printable(fmt.Sprintf("  %c %s%s", d.sign, at, value))
	_, err = fmt.Fprintln(out.env.Stdout, out.paint(out.env.StdoutTerminal, s, line))
	return err
}

func isNull(content json.RawMessage) bool { return len(content) == 0 || string(content) == "null" }

// absent represents the content of a record that does not exist.
type absent struct{}

func decodeContent(content json.RawMessage) (any, error) {
	if isNull(content) {
		return absent{}, nil
	}
	return strictjson.Decode(content, strictjson.Limits{})
}

// difference describes a value that exists in only one of two versions.
type difference struct {
	sign  rune
	at    string // a JSON Pointer from the root of the content
	value any
}

const (
	removed rune = '-'
	added   rune = '+'
)

// differ compares two values at a location and appends their differences to a list.
func differ(list []difference, at string, before, after any) []difference {
	switch b := before.(type) {
	case map[string]any:
		if a, ok := after.(map[string]any); ok {
			return differObjects(list, at, b, a)
		}
	case []any:
		if a, ok := after.([]any); ok {
			return differArrays(list, at, b, a)
		}
	}
	if reflect.DeepEqual(before, after) {
		return list
	}
	if before != any(absent{}) {
		list = append(list, difference{removed, at, before})
	}
	if after != any(absent{}) {
		list = append(list, difference{added, at, after})
	}
	return list
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

func differObjects(list []difference, at string, before, after map[string]any) []difference {
	names := make([]string, 0, len(before)+len(after))
	for name := range before {
		names = append(names, name)
	}
	for name := range after {
		if _, both := before[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		list = differ(list, at+"/"+pointerEscapes.Replace(name), member(before, name), member(after, name))
	}
	return list
}

func member(object map[string]any, name string) any {
	if value, ok := object[name]; ok {
		return value
	}
	return absent{}
}

// differArrays compares two arrays. Equal items at the start and at the end are skipped, so an
// inserted or removed item appears as one difference.
func differArrays(list []difference, at string, before, after []any) []difference {
	first := 0
	for first < min(len(before), len(after)) && reflect.DeepEqual(before[first], after[first]) {
		first++
	}
	last := 0
	for last < min(len(before), len(after))-first && reflect.DeepEqual(before[len(before)-1-last], after[len(after)-1-last]) {
		last++
	}
	before, after = before[first:len(before)-last], after[first:len(after)-last]
	place := func(i int) string { return fmt.Sprintf("%s/%d", at, first+i) }
	if len(before) == len(after) {
		for i := range before {
			list = differ(list, place(i), before[i], after[i])
		}
		return list
	}
	for i, value := range before {
		list = append(list, difference{removed, place(i), value})
	}
	for i, value := range after {
		list = append(list, difference{added, place(i), value})
	}
	return list
}
