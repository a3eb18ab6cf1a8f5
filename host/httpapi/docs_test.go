package httpapi_test

import (
	"os"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/access"
)

// The page about the service shows who may do what as it is.
func TestDocsShowRights(t *testing.T) {
	page, err := os.ReadFile("../../docs/service.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), access.Markdown()) {
		t.Errorf("docs/service.md does not hold the table of rights, which is:\n%s", access.Markdown())
	}
}
