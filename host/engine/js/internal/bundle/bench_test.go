package bundle_test

import (
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js/internal/bundle"
)

const twentyLines = `interface Prefs { language: string; visits?: number }

async function main(input: { language: string }): Promise<{ visits: number }> {
  const before: Prefs = (await memory.get_content("userPrefs")) ?? { language: "en" }
  const visits = (before.visits ?? 0) + 1
  await memory.set_content("userPrefs", { language: input.language, visits })
  console.log(greeting(before.language), visits)
  return { visits }
}

function greeting(language: string): string {
  switch (language) {
    case "de":
      return "Willkommen"
    case "fr":
      return "Bienvenue"
    default:
      return "Welcome"
  }
}
`

func BenchmarkBuild(b *testing.B) {
	big := "export const table = {\n" + strings.Repeat("  key: function (a, b) { return a + b * 2 },\n", 1000) + "}\nexport const one = 1\n"
	for name, src := range map[string]engine.Source{
		"twenty lines":      source("tool.ts", twentyLines, nil),
		"package of 43 KiB": source("tool.js", `import { one } from "big"; return one`, map[string]string{"node_modules/big/index.js": big}),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := bundle.Build(b.Context(), src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
