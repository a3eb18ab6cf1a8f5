package intl_test

import (
	"sync"
	"testing"

	"github.com/toolrun/toolrun/host/engine/js/internal/intl"
)

// FuzzParseTag parses a tag and then parses the resulting canonical tag. The second parsing must
// not change the tag. FuzzParseTag also checks that the package can use the tag.
func FuzzParseTag(f *testing.F) {
	for _, tag := range []string{"en", "zh-hant-tw", "de-u-co-phonebk-kn-true", "sr-Latn-x-a-b", "sh-YU", "en-a-b-u-nu-thai-x-y", "1", "", "a-b"} {
		f.Add(tag)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tag, err := intl.ParseTag(text)
		if err != nil {
			return
		}
		again, err := intl.ParseTag(tag.String())
		if err != nil || again.String() != tag.String() {
			t.Errorf("ParseTag(%q) = %s, and of that %s, %v", text, tag.String(), again.String(), err)
		}
		if n, err := intl.NewNumberFormat([]intl.Tag{tag}, options{}); err == nil {
			_, _ = n.Format(intl.NewFloat(-1234.5))
		}
		_, _ = tag.Maximize()
		_, _ = tag.Minimize()
	})
}

// FuzzTexts parses a number and compares two texts. Each operation must return a result or an
// error.
func FuzzTexts(f *testing.F) {
	f.Add("1.5e3", "a")
	f.Add("-0.000", "łódź 007")
	f.Add("1e-1000", "🤖 á\u0335")
	f.Fuzz(func(t *testing.T, a, b string) {
		n, err := intl.NewNumberFormat(nil, options{"notation": "compact"})
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := intl.ParseDecimal(a); ok {
			_, _ = n.Format(d)
		}
		c, err := intl.NewCollator(nil, options{"numeric": true})
		if err != nil {
			t.Fatal(err)
		}
		order, err := c.Compare(a, b)
		if back, failed := c.Compare(b, a); err == nil && failed == nil && back != -order {
			t.Errorf("Compare(%q, %q) = %d, and the other way round %d", a, b, order, back)
		}
	})
}

// TestConcurrentUse checks that concurrent runs can share the data and the caches.
func TestConcurrentUse(t *testing.T) {
	vectors := readVectors(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := i; j < len(vectors); j += 37 {
				c := vectors[j].Case
				if got, again := ours(c), ours(c); got.text != again.text {
					t.Errorf("%v gives %q and %q", c, got.text, again.text)
				}
			}
		})
	}
	wg.Wait()
}
