package main

import (
	"fmt"
	"slices"
)

// scan returns all findings in a tree, in the order of files.
func scan(root string) ([]finding, error) {
	files, err := sourceFiles(root)
	if err != nil {
		return nil, err
	}
	var found []finding
	for _, f := range files {
		if slices.Contains(generated, f.name) {
			continue
		}
		for _, p := range phrases {
			found = append(found, p.find(f)...)
		}
		names, err := findNames(f)
		if err != nil {
			return nil, err
		}
		found = append(found, names...)
	}
	return found, nil
}

// ruleNames returns the names of all rules, in the order in which they are reported.
func ruleNames() (names []string) {
	for _, p := range phrases {
		names = append(names, p.rule)
	}
	return append(names, "name")
}

func (f finding) String() string {
	return fmt.Sprintf("%s:%d: %s: %s\n\twrite: %s", f.file, f.line, f.rule, f.text, f.use)
}
