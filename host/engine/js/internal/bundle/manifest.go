package bundle

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"
)

// manifest contains the relevant fields of a package.json. If the file does not exist, the manifest
// is empty.
type manifest struct {
	dir     string
	broken  bool              // the file exists but cannot be parsed
	main    string            // the CommonJS entry
	module  string            // the ES module entry
	web     string            // the entry for browsers
	browser map[string]string // the replacements for browsers; "" for an empty module
	exports *exports
	imports *exports
	pure    bool            // an import of a file of the package has no side effects
	depends map[string]bool // the names of the dependencies of the package
}

// mains returns the package's entry files in order of preference. For a call to require, the
// CommonJS file precedes the ES module, because the value that require returns for an ES module has
// a different form.
func (m *manifest) mains(require bool) []string {
	list := []string{m.web, m.module, m.main}
	if require {
		list = []string{m.web, m.main, m.module}
	}
	var named []string
	for _, name := range list {
		if name != "" {
			named = append(named, name)
		}
	}
	return named
}

// manifestOf returns the manifest of the package that contains a file. If no package contains the
// file, the manifest is empty.
func (f *files) manifestOf(name string) *manifest {
	if f.fsys == nil {
		return &manifest{}
	}
	for dir := path.Dir(name); path.Base(dir) != modules; dir = path.Dir(dir) {
		if f.isFile(path.Join(dir, "package.json")) {
			return f.manifestIn(dir)
		}
		if dir == "." {
			break
		}
	}
	return &manifest{dir: "."}
}

// manifestIn returns the manifest in a folder.
func (f *files) manifestIn(dir string) *manifest {
	f.mu.Lock()
	m := f.manifests[dir]
	f.mu.Unlock()
	if m != nil {
		return m
	}
	m = &manifest{dir: dir}
	if name := path.Join(dir, "package.json"); f.isFile(name) {
		if data, fault := f.read(name); fault != nil || m.decode(data) != nil {
			m = &manifest{dir: dir, broken: true}
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.manifests[dir] = m
	return m
}

func (m *manifest) decode(data []byte) error {
	var raw struct {
		Main, Module, Browser, Exports, Imports, SideEffects json.RawMessage
		Dependencies, DevDependencies                        json.RawMessage
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	m.main, m.module, m.web = text(raw.Main), text(raw.Module), text(raw.Browser)
	m.pure = string(raw.SideEffects) == "false"
	var browser map[string]any
	if json.Unmarshal(raw.Browser, &browser) == nil {
		m.browser = map[string]string{}
		for from, to := range browser {
			s, isText := to.(string)
			if isText || to == false {
				m.browser[from] = s
			}
		}
	}
	m.depends = map[string]bool{}
	for _, list := range []json.RawMessage{raw.Dependencies, raw.DevDependencies} {
		var versions map[string]any
		_ = json.Unmarshal(list, &versions) // only an object can contain dependencies
		for name := range versions {
			m.depends[name] = true
		}
	}
	m.exports, m.imports = decodeExports(raw.Exports), decodeExports(raw.Imports)
	return nil
}

// text returns the value of a JSON string, or "" for any other value.
func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // a value of another type counts as missing
	return s
}

// exports is the value of the field "exports" or "imports" of a package.json.
type exports struct{ root *exported }

// exported is a value within the field "exports" or "imports" of a package.json. The value is a
// path, a list, or an ordered object whose keys are paths or conditions. In a list, the first
// matching element is used. The value null forbids the export; all fields of exported are then
// empty.
type exported struct {
	path string
	list []*exported
	keys []string
	with []*exported // the values of the keys, in the order of the keys
}

func decodeExports(raw json.RawMessage) *exports {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	return &exports{decodeExported(json.NewDecoder(bytes.NewReader(raw)))}
}

// decodeExported decodes one value. The text was parsed as JSON before, so its nesting is limited.
func decodeExported(d *json.Decoder) *exported {
	e := &exported{}
	token, err := d.Token()
	if err != nil {
		return e
	}
	switch token := token.(type) {
	case string:
		e.path = token
	case json.Delim:
		for d.More() {
			if token == '{' {
				key, _ := d.Token()
				name, _ := key.(string)
				e.keys = append(e.keys, name)
				e.with = append(e.with, decodeExported(d))
				continue
			}
			e.list = append(e.list, decodeExported(d))
		}
		_, _ = d.Token() // the closing bracket
	}
	return e
}

// subpath returns the export for a path within the package. If the package does not export the
// path, subpath returns nil.
func (x *exports) subpath(rest string) *exported {
	if len(x.root.keys) == 0 || !strings.HasPrefix(x.root.keys[0], ".") {
		if rest == "" {
			return x.root
		}
		return nil
	}
	if rest == "" {
		return x.entry(".")
	}
	return x.entry("./" + rest)
}

// entry returns the value of a key. If the key does not exist, the method searches for keys with a
// star that match the name, and uses the longest one.
func (x *exports) entry(name string) *exported {
	best, longest, star := (*exported)(nil), -1, ""
	for i, key := range x.root.keys {
		if key == name {
			return x.root.with[i]
		}
		before, after, ok := strings.Cut(key, "*")
		if ok && len(before) > longest && len(name) >= len(before)+len(after) &&
			strings.HasPrefix(name, before) && strings.HasSuffix(name, after) {
			best, longest, star = x.root.with[i], len(before), name[len(before):len(name)-len(after)]
		}
	}
	return best.substitute(star)
}

// substitute returns a copy of e with each star replaced by text.
func (e *exported) substitute(text string) *exported {
	if e == nil {
		return nil
	}
	s := &exported{path: strings.ReplaceAll(e.path, "*", text), keys: e.keys}
	for _, v := range e.list {
		s.list = append(s.list, v.substitute(text))
	}
	for _, v := range e.with {
		s.with = append(s.with, v.substitute(text))
	}
	return s
}

// choose returns the path to use. The function "holds" reports whether a condition is true. For an
// object, the method uses the first key that is a true condition and leads to a path.
func (e *exported) choose(holds func(condition string) bool) (string, bool) {
	if e == nil {
		return "", false
	}
	if e.path != "" {
		return e.path, true
	}
	for _, v := range e.list {
		if to, ok := v.choose(holds); ok {
			return to, true
		}
	}
	for i, condition := range e.keys {
		if !holds(condition) {
			continue
		}
		if to, ok := e.with[i].choose(holds); ok {
			return to, true
		}
	}
	return "", false
}
