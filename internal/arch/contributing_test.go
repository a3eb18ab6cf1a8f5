package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestContributingListsPackages checks that CONTRIBUTING.md has a row for each package. If the path
// in a row ends in "/...", the row covers all packages under the folder.
func TestContributingListsPackages(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, match := range regexp.MustCompile("(?m)^\\| `([^`]+)/(\\.\\.\\.)?` \\| .").FindAllStringSubmatch(string(page), -1) {
		rows[match[1]+match[2]] = true
		if _, err := os.Stat(filepath.Join(root, match[1])); err != nil {
			t.Errorf("CONTRIBUTING.md lists %s, which does not exist", match[1])
		}
	}
	for pkg := range rules {
		if !rows[pkg] && !listedAbove(rows, pkg) {
			t.Errorf("CONTRIBUTING.md has no row for the package %s", pkg)
		}
	}
}

func listedAbove(rows map[string]bool, pkg string) bool {
	for pkg != "" {
		if rows[pkg+"..."] {
			return true
		}
		cut := strings.LastIndex(pkg, "/")
		pkg = pkg[:max(cut, 0)]
	}
	return false
}
