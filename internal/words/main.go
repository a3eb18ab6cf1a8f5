// Command words finds phrases that are hard to read, names that should be replaced by a standard
// term, and broken links. The tests of the command compare the findings with a budget. The command
// prints the findings:
//
//	go run ./internal/words                 all phrases and names
//	go run ./internal/words host/memory     only those below a folder
//
// testdata/budget.txt contains the permitted number of findings of each folder. The permitted
// numbers of findings may only decrease. After a cleanup, "go test ./internal/words -update" lowers
// the numbers.
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

// report prints the findings in some folders, or in the whole tree, and the number of findings of
// each rule.
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
