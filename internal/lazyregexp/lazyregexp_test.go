package lazyregexp_test

import (
	"testing"

	"github.com/toolrun/toolrun/internal/lazyregexp"
)

func TestNew(t *testing.T) {
	digits := lazyregexp.New(`^\d+$`)
	if !digits().MatchString("12") || digits().MatchString("a") || digits() != digits() {
		t.Error("the expression is wrong, or is compiled twice")
	}
}
