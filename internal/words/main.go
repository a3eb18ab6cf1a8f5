// Command words checks the words of the tree: phrases that a reader has to read twice, names that
// an engineer would not guess, and links that lead nowhere. Its tests run with all others; as a
// command it prints what it finds:
//
//	go run ./internal/words                 every phrase and name
//	go run ./internal/words host/memory     those below a folder
//
// testdata/budget.txt holds how many of each a folder has today. The numbers can only fall. After a
// cleanup "go test ./internal/words -update" lowers them.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	flag.Parse()
	if err := report(".", flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(1)
	}
}

// report prints the findings below some folders of a tree, or all of them, and their number.
func report(root string, folders []string) error {
	found, err := scan(root)
	if err != nil {
		return err
	}
	count := map[string]int{}
	for _, f := range found {
		if !below(f.file, folders) {
			continue
		}
		count[f.rule]++
		fmt.Println(f)
	}
	for _, rule := range ruleNames() {
		fmt.Printf("%s: %d\n", rule, count[rule])
	}
	return nil
}

func below(file string, folders []string) bool {
	for _, folder := range folders {
		if folder = strings.Trim(folder, "/"); folder == "." || file == folder || strings.HasPrefix(file, folder+"/") {
			return true
		}
	}
	return len(folders) == 0
}
