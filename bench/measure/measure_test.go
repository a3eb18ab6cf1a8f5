package measure

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"
)

func ExampleRows_Over() {
	rows := Rows{"run": {P50: 36}, "bare engine": {P50: 10}, "bare storage": {P50: 2}}
	fmt.Println(rows.Over("a run over its parts, p50", "run", "at most 4", "bare engine", "bare storage"))
	// Output: a run over its parts, p50: 3.00 (aim: at most 4)
}

// sampled returns a case of 100 calls. The calls took 1 µs, 2 µs and so on, up to 100 µs. The case
// has two rounds, and each round contains 50 of the calls.
func sampled(t *testing.T) *Case {
	round := 0
	c := &Case{Name: "sampled", Workers: 1, Sample: func(time.Duration) (Sample, error) {
		round++
		sample := Sample{Span: time.Duration(round) * time.Second}
		for n := round; n <= 100; n += 2 {
			sample.Took = append(sample.Took, time.Duration(n)*time.Microsecond)
		}
		return sample, nil
	}}
	for range 2 {
		if err := c.measure(time.Second); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func TestRow(t *testing.T) {
	if got, want := sampled(t).row(), (Row{Name: "sampled", Workers: 1, P50: 50, P99: 99, Rate: 50}); got != want {
		t.Errorf("the row = %+v; want %+v", got, want)
	}
	if row := (&Case{Name: "empty"}).row(); row.Missing == "" {
		t.Errorf("the row of a case without calls = %+v; want a reason in Missing", row)
	}
}

func TestCall(t *testing.T) {
	c := &Case{Workers: 1, Call: func(_, n int) error {
		if n == 3 {
			return errors.New("broken")
		}
		return nil
	}}
	if err := c.measure(time.Hour); err == nil || err.Error() != "broken" {
		t.Errorf("measure = %v; want the error of the third call", err)
	}
}

func TestReport(t *testing.T) {
	b := &Bench{
		Cases: []*Case{sampled(t)},
		Apart: func() ([]Row, []Figure, error) {
			return []Row{{Name: "apart", Missing: "there is none here"}}, []Figure{{Name: "size", Value: 2, Unit: "MiB"}}, nil
		},
		Figures: func(rows Rows) []Figure {
			if !rows.Has("sampled") || rows.Has("sampled", "apart") || rows.Has("unknown") {
				t.Errorf("Has is wrong for %v", rows)
			}
			return []Figure{{Name: "median", Value: rows["sampled"].P50, Unit: "µs", Aim: "under 60"}}
		},
	}
	r, err := b.report()
	if err != nil {
		t.Fatal(err)
	}
	var table, text bytes.Buffer
	if err := errors.Join(r.writeTable(&table), r.writeJSON(&text)); err != nil {
		t.Fatal(err)
	}
	want := `     case  at once  p50 µs  p99 µs  per second
  sampled        1    50.0    99.0          50
apart: not measured: there is none here

median: 50.00 µs (aim: under 60)
size: 2.00 MiB
`
	if table.String() != want {
		t.Errorf("the table =\n%s\nwant\n%s", table.String(), want)
	}
	var again report
	if err := json.Unmarshal(text.Bytes(), &again); err != nil || len(again.Rows) != 2 || again.Rows[0] != r.Rows[0] || len(again.Figures) != 2 {
		t.Errorf("the JSON decodes to %+v, %v; want what was encoded", again, err)
	}
}
