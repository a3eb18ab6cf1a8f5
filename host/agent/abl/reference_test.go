package abl_test

import (
	"os"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/agent/abl"
)

// TestReferenceListsFunctions checks that the language reference describes every function.
func TestReferenceListsFunctions(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/abl.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, usage := range abl.FunctionUsages() {
		if !strings.Contains(string(page), "`"+usage+"`") {
			t.Errorf("the page does not list %s", usage)
		}
	}
}

// ExampleExpr_Eval shows how an expression that reads variables is evaluated.
func ExampleExpr_Eval() {
	e, err := abl.ParseExpr(`nights * price > 300 ? "long" : "short"`)
	if err != nil {
		panic(err)
	}
	r, err := e.Eval(abl.Variables{"nights": 3.0, "price": "120"}, abl.Options{})
	if err != nil {
		panic(err)
	}
	_, _ = os.Stdout.WriteString(r.Value.(string))
	// Output: long
}
