package memory_test

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

// This file contains the merge, the projection and the schema of the model. The code supports only
// the values that tests use.

func parse(text string) any {
	var value any
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&value); err != nil {
		panic(err)
	}
	return value
}

// text returns the canonical JSON of a value, with sorted members and without spaces.
func text(value any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func canonical(reply json.RawMessage) string { return text(parse(string(reply))) }

func timeText(t time.Time) string {
	if t.IsZero() {
		return "null"
	}
	return strconv.Quote(t.Format("2006-01-02T15:04:05.000000Z"))
}

// mergeModel returns the content after a set, according to RFC 7396. A new record gets the defaults
// of the store.
func mergeModel(st modelStore, old string, existed bool, patch map[string]any, replace bool) map[string]any {
	target := map[string]any{}
	if existed {
		target = parse(old).(map[string]any)
	}
	var next map[string]any
	if replace {
		next = patch
	} else {
		next = mergePatch(target, patch).(map[string]any)
	}
	if _, present := next["a"]; st.schema && (replace || !existed) && !present {
		next["a"] = json.Number("1")
	}
	return next
}

func mergePatch(target, patch any) any {
	changes, object := patch.(map[string]any)
	if !object {
		return patch
	}
	result, object := target.(map[string]any)
	if !object {
		result = map[string]any{}
	}
	for name, value := range changes {
		if value == nil {
			delete(result, name)
		} else {
			result[name] = mergePatch(result[name], value)
		}
	}
	return result
}

// fitsModelSchema reports whether a strict store with modelSchema accepts a content.
func fitsModelSchema(content map[string]any) bool {
	for name, value := range content {
		number, ok := value.(json.Number)
		if !ok || strings.ContainsAny(string(number), ".eE") || !strings.Contains("abc", name) {
			return false
		}
	}
	return len(content) <= 2
}

// A rule contains the path of a field in a projection and states whether the projection includes or
// excludes the field.
type rule struct {
	path    []string
	include bool
}

// project applies a projection to a content. The projection and the content are JSON.
func project(content, projection string) string {
	if projection == "" || projection == "{}" {
		return content
	}
	rules := flatten(nil, parse(projection).(map[string]any))
	status := true // a projection that only excludes fields selects all other fields
	for _, r := range rules {
		status = status && !r.include
	}
	kept, _ := pick(parse(content), nil, rules, status)
	return text(kept)
}

func flatten(path []string, fields map[string]any) (rules []rule) {
	for name, value := range fields {
		full := append(path[:len(path):len(path)], strings.Split(name, ".")...)
		if below, ok := value.(map[string]any); ok {
			rules = append(rules, flatten(full, below)...)
			continue
		}
		rules = append(rules, rule{full, value == true || value == json.Number("1")})
	}
	return rules
}

// pick returns the selected part of the value at a path. The argument "status" states whether the
// nearest rule above the path includes the value.
func pick(value any, path []string, rules []rule, status bool) (any, bool) {
	included, excluded, below := match(path, rules)
	status = included || status && !excluded
	if !status && !below {
		return nil, false
	}
	switch v := value.(type) {
	case map[string]any:
		kept := map[string]any{}
		for name, field := range v {
			if part, ok := pick(field, append(path[:len(path):len(path)], name), rules, status); ok {
				kept[name] = part
			}
		}
		return kept, true
	case []any:
		kept := []any{}
		for _, element := range v {
			if part, ok := pick(element, path, rules, status); ok {
				kept = append(kept, part)
			}
		}
		return kept, true
	}
	return value, status
}

// match searches the rules for exactly this path. The first result is the flag of the rule. The
// second result reports whether a rule includes a field below the path.
func match(path []string, rules []rule) (included, excluded, below bool) {
	for _, r := range rules {
		if len(r.path) < len(path) || strings.Join(r.path[:len(path)], "\x00") != strings.Join(path, "\x00") {
			continue
		}
		switch {
		case len(r.path) > len(path):
			below = below || r.include
		case r.include:
			included = true
		default:
			excluded = true
		}
	}
	return included, excluded, below
}

// key returns the key that the Service uses for the record at a place.
func (at place) key(tenant string) storage.Key {
	key := storage.MakeKey(storage.Part{Tag: storage.Tenant, Value: tenant}, storage.Part{Tag: storage.App, Value: "shop"},
		storage.Part{Tag: storage.Store, Value: at.store})
	if user, ok := strings.CutPrefix(at.owner, "user "); ok {
		key = key.With(storage.Part{Tag: storage.User, Value: user})
	}
	if session, ok := strings.CutPrefix(at.owner, "session "); ok {
		key = key.With(storage.Part{Tag: storage.Session, Value: session})
	}
	return key
}

// placeOf returns the place of a record. The argument is the key that the Service uses for the
// record. The second result is false if the record belongs to the host.
func placeOf(key storage.Key) (place, bool) {
	at := place{store: key.Part(storage.Store)}
	if user := key.Part(storage.User); user != "" {
		at.owner = "user " + user
	}
	if session := key.Part(storage.Session); session != "" {
		at.owner = "session " + session
	}
	return at, key.Part(storage.System) == "" && at.store != ""
}
