package schema_test

import (
	"testing"

	"github.com/toolrun/toolrun/schema"
)

const prefsDocument = `{"preferences": {"language": "en", "notifications": true},
	"recentOrders": ["o-1001", "o-1002", "o-1003"], "lastVisit": "2026-04-30T16:20:00.123456"}`

func BenchmarkValidate(b *testing.B) {
	for _, mode := range []struct {
		name   string
		strict bool
	}{{"loose", false}, {"strict", true}} {
		b.Run(mode.name, func(b *testing.B) {
			s := compile(b, prefsSchema, schema.Options{Strict: mode.strict})
			doc := decode(b, prefsDocument)
			b.ReportAllocs()
			for b.Loop() {
				if found := s.Validate(doc); found != nil {
					b.Fatal(terse(found))
				}
			}
		})
	}
	b.Run("library", func(b *testing.B) { // for comparison
		s, err := rawSchema([]byte(prefsSchema))
		if err != nil {
			b.Fatal(err)
		}
		doc := decode(b, `{"preferences": {"language": "en", "notifications": true},
			"recentOrders": ["o-1001", "o-1002", "o-1003"], "lastVisit": "2026-04-30T16:20:00Z"}`)
		b.ReportAllocs()
		for b.Loop() {
			if err := s.Validate(doc); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkCompile(b *testing.B) {
	b.Run("cold", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			compile(b, prefsSchema, schema.Options{Strict: true})
		}
	})
	b.Run("cached", func(b *testing.B) {
		var c schema.Cache
		text := []byte(prefsSchema)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.Compile(text, schema.Options{Strict: true}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
