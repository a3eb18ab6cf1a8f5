package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// source reads the npm packages. If an error occurs, source stores the first error.
type source struct {
	folder  string
	err     error
	current map[string]bool
}

type object = map[string]any

// read returns a part of a JSON file. If the part does not exist, the method returns nil.
func (s *source) read(file string, path ...string) object {
	data, err := os.ReadFile(filepath.Join(s.folder, file))
	if err != nil {
		s.fail(err)
		return nil
	}
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		s.fail(fmt.Errorf("read %s: %w", file, err))
		return nil
	}
	return at(value, path...)
}

func (s *source) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

func at(value any, path ...string) object {
	for _, name := range path {
		o, _ := value.(object)
		value = o[name]
	}
	o, _ := value.(object)
	return o
}

func sortedKeys(o object) []string { return slices.Sorted(maps.Keys(o)) }

// rare contains languages that are omitted to keep the data small. CLDR covers these languages
// well. A tool that requests a rare language receives an error.
var rare = strings.Fields("ak ba chr cv dsb gd ha hsb ig jv kok pcm ps qu rm sd shn so ti tk yo")

// locales returns the locales that have modern coverage in CLDR. The method also returns the
// regional variants of these locales.
func (s *source) locales() (names []string) {
	levels := s.read("cldr-core/coverageLevels.json", "effectiveCoverageLevels")
	parents := s.parents()
	for _, name := range sortedKeys(levels) {
		_, err := os.Stat(filepath.Join(s.folder, "cldr-dates-full/main", name))
		language, _, _ := strings.Cut(name, "-")
		out := slices.Contains(rare, language) || slices.Contains(missing, name) || slices.Contains(differing, name) || parents[name] == "en-150"
		if levels[name] == "modern" && name != "und" && !out && err == nil {
			names = append(names, name)
		}
	}
	return names
}

// parents returns the parents of the locales whose names do not show their parents. The parent ""
// means that the locale has no parent.
func (s *source) parents() map[string]string {
	parents := map[string]string{}
	for name, parent := range s.read("cldr-core/supplemental/parentLocales.json", "supplemental", "parentLocales", "parentLocale") {
		p := parent.(string)
		if p == "und" || p == "root" {
			p = ""
		}
		parents[name] = p
	}
	return parents
}

func parentOf(parents map[string]string, name string) string {
	if p, ok := parents[name]; ok {
		return p
	}
	if i := strings.LastIndexByte(name, '-'); i > 0 {
		return name[:i]
	}
	return ""
}

// inherit removes each value from a locale's table that equals the value in the parent's table.
func (s *source) inherit(tables map[string]table) {
	parents := s.parents()
	full := map[string]table{}
	for name, t := range tables {
		full[name] = maps.Clone(t)
	}
	for name, t := range tables {
		parent := parentOf(parents, name)
		for parent != "" && full[parent] == nil {
			parent = parentOf(parents, parent)
		}
		if name == "" || parent == "" {
			continue
		}
		for path, value := range full[parent] {
			if mine, ok := t[path]; !ok {
				t[path] = "" // the locale does not have the value
			} else if mine == value {
				delete(t, path)
			}
		}
		t["parent"] = parent
	}
}

// flatten adds the texts in a JSON value to a table, below a path. flatten omits a text if the
// function "keep" rejects the text's path.
func flatten(t table, path string, value any, keep func(path string) bool) {
	switch v := value.(type) {
	case object:
		if text, ok := v["_value"].(string); ok {
			flatten(t, path, text, keep)
			return
		}
		for _, name := range sortedKeys(v) {
			flatten(t, path+"/"+name, v[name], keep)
		}
	case string:
		if keep == nil || keep(path) {
			t[path] = v
		}
	}
}
