package app

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/problem"
)

var factKeys = []string{"type", "scope", "default", "ttl", "domain", "strict", "unit", "description"}

// factReader reads the section "facts" of the app file.
type factReader struct {
	fieldReader
	schemas *schemaReader
}

// maxFacts is the maximum number of facts that an app can declare.
const maxFacts = 1000

// facts returns the declared facts. facts also returns the positions of the facts, with the paths
// of the facts as keys. If the file has no section "facts", the method returns nil.
func (r *factReader) facts(n *node) (facts []declare.Fact, positions map[string]position) {
	if n == nil {
		return nil, nil
	}
	facts, positions = []declare.Fact{}, map[string]position{}
	entries := r.entries(n, "facts", "fact", nil)
	if len(entries) > maxFacts {
		r.errorf(entries[maxFacts].position, problem.OverLimit, "store values that belong together as one object", "an app is limited to %d facts, but this app has %d", maxFacts, len(entries))
	}
	for _, m := range entries {
		positions[m.key] = m.position
		facts = append(facts, r.fact(m))
	}
	return facts, positions
}

func (r *factReader) fact(m member) declare.Fact {
	f := declare.Fact{Path: m.key}
	if err := declare.CheckFactPath(m.key); err != nil {
		r.errorf(m.position, problem.BadName, "write a path such as user.language", "%s", err)
	}
	n := m.value
	if n.kind == null {
		return f
	}
	if !r.keys(n, "a fact", factKeys) {
		return f
	}
	f.Type = declare.FactType(r.word(n.get("type"), "type", factTypes()))
	f.Scope = r.scope(n.get("scope"))
	f.Domain = r.text(n.get("domain"), "domain")
	f.Unit = r.text(n.get("unit"), "unit")
	f.Description = r.text(n.get("description"), "description")
	if ttl := n.get("ttl"); ttl != nil {
		f.TTL = r.ttl(ttl)
	}
	strict := r.flag(n.get("strict"), "strict")
	f.Strict = strict != nil && *strict
	f.Default = r.defaultValue(n.get("default"))
	if f.Default != nil && !f.Type.Accepts(f.Default) {
		r.errorf(n.get("default").position, problem.BadValue, "", "the default is not of the type %s", f.Type)
	}
	if f.Strict && f.Type == "" {
		r.warnf(n.get("strict").position, problem.NoEffect, "add a type", "`strict: true` has no effect without a type")
	}
	return f
}

func factTypes() []string {
	var words []string
	for _, t := range declare.FactTypes() {
		words = append(words, string(t))
	}
	return words
}

// factScopes maps each valid value of the key "scope" of a fact to its scope.
var factScopes = map[string]declare.Scope{
	"user": declare.ScopeUser, "project": declare.ScopeApplication, "execution_tree": declare.ScopeWorkflow,
}

func (r *factReader) scope(n *node) declare.Scope {
	return factScopes[r.word(n, "scope", []string{"user", "project", "execution_tree"})]
}

// The method "word" returns the value of a key if the value is one of the known words. Otherwise,
// it reports an error and returns "". If the key is missing, it returns "" without an error.
func (r *factReader) word(n *node, key string, known []string) string {
	if n == nil {
		return ""
	}
	word := r.text(n, key)
	for _, k := range known {
		if k == word {
			return k
		}
	}
	if n.kind == text {
		r.errorf(n.position, problem.BadValue, didYouMean(word, known), "the value %s is not valid for the key %s", problem.Quote(word), key)
	}
	return ""
}

func (r *factReader) ttl(n *node) time.Duration {
	retention, err := declare.ParseRetention(n.value)
	if n.kind != text || err != nil || retention.Session {
		r.errorf(n.position, problem.BadValue, "write one number and one unit, such as 90d, 24h, 30m or 10s", "the value %s is not a valid ttl", problem.Quote(n.value))
		return 0
	}
	return retention.For
}

// defaultValue returns the default of a fact as JSON. If the fact has no default, defaultValue
// returns nil.
func (r *factReader) defaultValue(n *node) json.RawMessage {
	if n == nil || n.kind == null {
		return nil
	}
	if !r.schemas.isJSON(n) {
		return nil
	}
	var b bytes.Buffer
	n.appendJSON(&b)
	return b.Bytes()
}

// exportedFact is a fact in an exported app.
type exportedFact struct {
	Type        declare.FactType `json:"type,omitempty"`
	Scope       string           `json:"scope,omitempty"`
	Default     json.RawMessage  `json:"default,omitempty"`
	TTL         string           `json:"ttl,omitempty"`
	Domain      string           `json:"domain,omitempty"`
	Strict      bool             `json:"strict,omitempty"`
	Unit        string           `json:"unit,omitempty"`
	Description string           `json:"description,omitempty"`
}

func exportFact(f declare.Fact) (string, any, error) {
	out := exportedFact{
		Type: f.Type, Default: f.Default, TTL: declare.Retention{For: f.TTL}.String(), Domain: f.Domain,
		Strict: f.Strict, Unit: f.Unit, Description: f.Description,
	}
	for word, scope := range factScopes {
		if scope == f.Scope {
			out.Scope = word
		}
	}
	return f.Path, out, nil
}
