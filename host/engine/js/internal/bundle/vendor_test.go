package bundle_test

import (
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/engine/js/internal/bundle"
)

// TestDocumentedTools runs tools that the documentation of several platforms contains. Some of the
// tools are bodies without a return, and some are functions that the file does not call.
func TestDocumentedTools(t *testing.T) {
	for _, tt := range []struct{ name, code string }{
		{"read, project, write, delete", `// Read from memory
const prefs = await memory.get_content("userPrefs");
console.log(prefs.preferences.language);

// Read with projections (specific fields only)
const partial = await memory.get_content("userPrefs", {
  "preferences.language": 1,
  "lastVisit": 1
});

// Write to memory (creates a new record if none exists; updates existing record if found)
await memory.set_content("userPrefs", {
  preferences: { language: "en", notifications: true },
  lastVisit: new Date().toISOString()
});

// Delete memory content
await memory.delete_content("userPrefs");`},
		{"session meta", `// Get full session meta
const sessionMeta = await memory.get_content("sessionMeta");
const userId = sessionMeta.metadata.userId;
const channel = sessionMeta.metadata.channel;
const sessionId = sessionMeta.sessionInfo.sessionId;`},
		{"attachments", `const artifacts = await memory.get_content("sessionMeta");
const files = artifacts.artifacts;

files.forEach(file => {
  console.log(file.filename);     // Original name
  console.log(file.mimetype);     // MIME type
  console.log(file.downloadUrl);  // Temporary URL (30 days)
  console.log(file.isActive);     // Include in context?
});`},
		{"missing data", `const prefs = await memory.get_content("userPrefs");
const language = prefs?.preferences?.language || "en";`},
		{"clean up", `// End of workflow cleanup
await memory.delete_content("tempProcessingData");`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := answers(t, source("tool.js", tt.code, nil), `{}`, `null`)
			if b.Form != bundle.Body || len(b.Warnings) != 0 {
				t.Errorf("form %s, warnings %q", b.Form, b.Warnings)
			}
		})
	}
	b := build(t, source("tool.js", "async function storeCustomerCredentials(id) {\n  await memory.set_content('credentials', { id })\n  return { success: true }\n}", nil))
	if len(b.Warnings) != 1 || !strings.Contains(b.Warnings[0], "does not call a function") {
		t.Errorf("warnings = %q", b.Warnings)
	}
	answers(t, source("tool.js", "async function main(city) {\n  return `weather in ${city}`\n}\nreturn main($city)", nil, "city"), `{"city":"Oslo"}`, `"weather in Oslo"`)
}
