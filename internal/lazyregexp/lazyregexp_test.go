package lazyregexp_test

import (
	"testing"

	"github.com/toolrun/toolrun/internal/lazyregexp"
)

func TestNew(t *testing.T) {
	digits := lazyregexp.New(`^\d+$`)
	first := digits()
	if !first.MatchString("12") || first.MatchString("a") {
		t.Error("the expression is wrong")
	}
	if digits() != first {
		t.Error("the expression is compiled twice")
	}
}
