// Command words finds phrases that readers stumble over, names that do not use the term of the
// field, and broken links. Its tests check the tree against a budget. The command prints the
// findings:
//
//	go run ./internal/words                 all phrases and names
//	go run ./internal/words host/memory     only those below a folder
//
// testdata/budget.txt contains the permitted number of findings of each folder. The numbers can
// only decrease: after a cleanup, "go test ./internal/words -update" lowers them.
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

// report prints the findings below some folders, or in the whole tree, and the number of each rule.
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
