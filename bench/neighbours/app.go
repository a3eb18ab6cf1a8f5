package main

import (
	"os"
	"path/filepath"
)

// appFiles contains the files of the app by file name. Both tenants have this app. appFiles has
// tools for normal users and tools for the attacker. These tools are not hostile. The attacker
// sends input that makes the tools slow or makes their results large.
var appFiles = map[string]string{
	"app.yaml": `
app: shop
memory:
  notes: {access: user}
  shared: {access: application}
  page0: {access: session}
  page1: {access: session}
  page2: {access: session}
  page3: {access: session}
tools:
  note: {source: note.js, description: counts, grants: {notes: readwrite}}
  echo: {source: echo.js, description: answers nothing}
  large: {source: large.js, description: fills a record, grants: {shared: readwrite}}
  merge: {source: merge.js, description: merges into it, grants: {shared: readwrite}, limits: {timeout: 5s}}
  slow: {source: slow.js, description: computes}
  answer: {source: answer.js, description: answers much}
  fill: {source: fill.js, description: stores much, grants: {page0: write, page1: write, page2: write, page3: write}}
`,
	"note.js":   `const c = await memory.get_content("notes"); await memory.set_content("notes", {n: (c?.n ?? 0) + 1}); return 1;`,
	"echo.js":   `return {ok: 1};`,
	"large.js":  `await memory.set_content("shared", {a: Array(99000).fill(0)}, {replace: true}); return 1;`,
	"merge.js":  `const end = Date.now() + 4200; let n = 0; while (Date.now() < end && n < 900) { await memory.set_content("shared", {["k" + n++ % 10]: Math.random()}); } return n;`,
	"slow.js":   `const end = Date.now() + 100; while (Date.now() < end); return 1;`,
	"answer.js": `return "x".repeat(950000);`,
	"fill.js":   `for (const n of [0, 1, 2, 3]) await memory.set_content("page" + n, {text: "x".repeat(261000)}); return 1;`,
}

func writeApp(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for name, text := range appFiles {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}
