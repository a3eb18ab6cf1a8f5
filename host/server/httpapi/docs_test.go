package httpapi_test

import (
	"os"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/server/auth"
)

// The page about the service shows who may do what as it is.
func TestDocsShowRights(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/http-api.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), auth.Markdown()) {
		t.Errorf("docs/reference/http-api.md does not hold the table of rights, which is:\n%s", auth.Markdown())
	}
}
