package abl

import (
	"errors"
	"strings"
	"testing"
)

// Converting a text to a number or a date costs evaluation steps. The number of these steps must be
// proportional to the time that the conversion takes.
func TestCostOfConversions(t *testing.T) {
	dates, numbers := []any{}, []any{}
	for range 10_000 {
		dates = append(dates, "2026-11-23T05:00:00.000000001+01:00")
		numbers = append(numbers, strings.Repeat("1", 399))
	}
	scope := Variables(map[string]any{
		"dates": dates, "numbers": numbers, "date": "2026-11-23T05:00:00.000000000+02:00", "n": 5.0, "many": strings.Repeat("1", 399),
	})
	for _, tt := range []struct {
		source string
		steps  int
	}{
		{"date IN dates", 400_000},
		{"n IN numbers", 800_000},
		{"many * many", 150},
		{"many < n", 80},
		{"ABS(many)", 80},
		{`PAD_START("", 80000)`, 10_000},
		{`"a" IN dates`, 10_000},
	} {
		x, err := ParseExpr(tt.source)
		if err != nil {
			t.Fatal(err)
		}
		remaining := 2_000_000
		if _, err := x.Eval(scope, Options{Remaining: &remaining}); err != nil {
			t.Fatal(err)
		}
		if used := 2_000_000 - remaining; used < tt.steps || used > 5*tt.steps {
			t.Errorf("%s takes %d steps; want about %d", tt.source, used, tt.steps)
		}
	}
	x, err := ParseExpr("[many * many, 1]")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.Eval(scope, Options{Cost: 50}); !errors.Is(err, ErrCost) {
		t.Errorf("an expensive conversion = %v; want %v", err, ErrCost)
	}
}
