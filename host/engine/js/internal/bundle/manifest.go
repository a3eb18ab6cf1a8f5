package bundle

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"
)

// manifest is what matters of a package.json. A missing one is an empty one.
type manifest struct {
	dir     string
	broken  bool              // it is there but cannot be read
	main    string            // the CommonJS entry
	module  string            // the ES module entry
	web     string            // the entry for browsers
	browser map[string]string // what to put for a file or package in browsers, "" for nothing
	exports *exports
	imports *exports
	pure    bool            // importing a file of it does nothing but define what it exports
	depends map[string]bool // the packages that it asks for
}

// mains returns the entries to try, best first. A package required as CommonJS is not given as an ES module, for
// then the value of require would be another.
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

// manifestOf returns the manifest of the package that a file belongs to; an empty one outside of packages.
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
		_ = json.Unmarshal(list, &versions) // what is no object asks for nothing
		for name := range versions {
			m.depends[name] = true
		}
	}
	m.exports, m.imports = decodeExports(raw.Exports), decodeExports(raw.Imports)
	return nil
}

// text returns a JSON string, "" for anything else.
func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // what is no string counts as absent
	return s
}

// exports is the field exports or imports of a package.json.
type exports struct{ root *exported }

// exported is a value in it: a path, a list of which the first that fits counts, or an object, in its own order,
// of paths or conditions. None of them is set for null: an export that is forbidden.
type exported struct {
	path string
	list []*exported
	keys []string
	with []*exported // the values of keys
}

func decodeExports(raw json.RawMessage) *exports {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	return &exports{decodeExported(json.NewDecoder(bytes.NewReader(raw)))}
}

// decodeExported reads one value. The text was read as JSON before, which bounds how deep it nests.
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

// subpath returns what is exported as a path within the package, nil where nothing is.
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

// entry returns the value of a key, or of the longest pattern with a star that fits it.
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

// substitute returns e with text in place of each star.
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

// choose returns the path of the first conditions that hold.
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
