// Package arch contains tests of architecture rules. The tests parse the source files and check the
// imports of each package, the number of methods of each type, and the length of each function.
package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/toolrun/toolrun/"

// rule lists the packages that a package may import. Tests may import other packages. An item of a
// rule is the path of a package of this repository or the name of another module. The standard
// library is always allowed.
type rule struct {
	own    []string
	others []string
}

// rules contains a rule for every package, including the packages of nested modules. A package that
// defines contracts should import as few other packages of the repository as possible.
var rules = map[string]rule{
	"abi":                 {},
	"internal/strictjson": {},
	"internal/bytesize":   {own: []string{"internal/lazyregexp"}},
	"internal/yield":      {},
	"internal/int8vec":    {others: []string{"golang.org/x/sys"}},
	"internal/cachefs":    {},
	"internal/fairlock":   {},
	"internal/spell":      {},
	"internal/mergepatch": {},
	"schema":              {own: []string{"abi", "internal/strictjson", "internal/spell"}, others: []string{"github.com/santhosh-tekuri/jsonschema/v5"}},

	"host/storage":                 {own: []string{"abi"}},
	"host/storage/mem":             {own: []string{"host/storage"}},
	"host/storage/bolt":            {own: []string{"abi", "host/storage"}, others: []string{"go.etcd.io/bbolt"}},
	"host/storage/postgres":        {own: []string{"internal/lazyregexp", "host/storage"}, others: []string{"github.com/jackc/pgx/v5", "golang.org/x/sync"}},
	"host/storage/postgres/pgtest": {},
	"host/storage/storagetest":     {own: []string{"host/storage"}, others: []string{"github.com/anishathalye/porcupine", "github.com/google/go-cmp", "pgregory.net/rapid"}},

	"host/engine":              {own: []string{"abi"}},
	"internal/codecache":       {},
	"internal/wasm/binary":     {},
	"internal/wasm/wasmtest":   {own: []string{"internal/wasm/binary"}},
	"internal/wasm/fuel":       {own: []string{"internal/wasm/binary"}},
	"internal/wasm/stackguard": {own: []string{"internal/wasm/binary"}},
	"internal/wasm/wasi":       {others: []string{"github.com/tetratelabs/wazero"}},
	"internal/wasm/snapshot":   {own: []string{"internal/wasm/binary"}, others: []string{"github.com/tetratelabs/wazero", "golang.org/x/sys"}},
	"internal/wasm/machine":    {own: []string{"internal/codecache", "internal/wasm/binary", "internal/wasm/fuel", "internal/wasm/snapshot", "internal/wasm/stackguard"}, others: []string{"github.com/tetratelabs/wazero"}},

	"host/engine/wasm": {own: []string{"abi", "internal/strictjson", "host/engine", "internal/wasm/binary", "internal/wasm/machine", "internal/wasm/snapshot", "internal/wasm/wasi"},
		others: []string{"github.com/tetratelabs/wazero"}},
	"host/engine/python": {own: []string{"abi", "internal/strictjson", "host/engine", "internal/codecache", "internal/wasm/binary", "internal/wasm/machine", "internal/wasm/snapshot", "internal/wasm/stackguard", "internal/wasm/wasi", "sdk/python-wasm"},
		others: []string{"github.com/tetratelabs/wazero"}},
	"host/engine/python/distribution":          {own: []string{"internal/lazyregexp", "abi"}},
	"host/engine/python/distribution/disttest": {own: []string{"host/engine/python/distribution"}},
	"sdk/python-wasm":                          {},
	"abi/guest/go":                             {own: []string{"abi", "abi/guest/go/internal/imports"}},
	"abi/guest/go/internal/imports":            {own: []string{"abi"}},
	"abi/guest/go/toolruntest":                 {own: []string{"abi", "abi/guest/go", "abi/guest/go/internal/imports"}},
	"abi/guest/go/toolslog":                    {own: []string{"abi", "abi/guest/go", "abi/guest/go/internal/imports"}},
	"abi/guest/go/probe":                       {own: []string{"abi", "abi/guest/go"}},
	"abi/conformance":                          {own: []string{"abi", "host/engine"}},
	"abi/abitest":                              {own: []string{"abi", "abi/conformance", "host/engine", "internal/wasm/wasmtest"}},

	"host/extract":                       {own: []string{"internal/lazyregexp", "abi", "host/admission", "host/engine", "host/extract/pdfium"}, others: []string{"github.com/gabriel-vasile/mimetype", "golang.org/x/text"}},
	"host/extract/chunk":                 {},
	"host/extract/pdfium":                {own: []string{"internal/codecache", "internal/wasm/binary", "internal/wasm/machine", "internal/wasm/snapshot"}, others: []string{"github.com/tetratelabs/wazero"}},
	"host/engine/enginetest":             {own: []string{"abi", "host/engine"}},
	"host/engine/enginetest/jstools":     {own: []string{"host/engine", "host/engine/enginetest"}},
	"host/engine/enginetest/pythontools": {own: []string{"host/engine", "host/engine/enginetest"}},
	"host/engine/enginetest/wasmtools":   {own: []string{"host/engine", "host/engine/enginetest"}},
	"host/engine/js":                     {own: []string{"internal/lazyregexp", "host/problem", "abi", "internal/strictjson", "internal/spell", "host/engine", "host/machine", "host/engine/js/internal/anchor", "host/engine/js/internal/bundle", "host/engine/js/internal/crash", "host/engine/js/internal/ieee754", "host/engine/js/internal/intl", "host/engine/js/internal/property", "sdk/js"}, others: []string{"github.com/dop251/goja", "github.com/nlnwa/whatwg-url"}},
	"host/engine/js/internal/bundle":     {own: []string{"internal/lazyregexp", "abi", "host/engine", "host/engine/js/internal/crash"}, others: []string{"github.com/dop251/goja", "github.com/evanw/esbuild", "github.com/go-sourcemap/sourcemap"}},
	"host/engine/js/internal/crash":      {},
	"host/engine/js/internal/anchor":     {},
	"host/engine/js/internal/ieee754":    {},
	"host/engine/js/internal/property":   {own: []string{"internal/lazyregexp"}},
	"sdk/js":                             {},
	"sdk/client":                         {own: []string{"abi", "host/server/httpapi/apitypes", "host/report"}},

	"host/engine/js/internal/intl":          {others: []string{"golang.org/x/text"}},
	"host/engine/js/internal/intl/generate": {},

	"plugins/examples/hit_counter_go":   {own: []string{"abi/guest/go"}},
	"plugins/examples/order_history_go": {own: []string{"abi/guest/go"}},

	"host/partition": {own: []string{"abi", "host/storage"}},
	"host/records":   {own: []string{"abi", "host/partition", "host/storage", "host/txn"}},
	"host/ledger":    {own: []string{"abi", "host/partition", "host/records", "host/report", "host/storage"}},
	"host/session":   {own: []string{"abi", "host/partition", "host/records", "host/storage", "host/txn"}},
	"host/artifact":  {own: []string{"abi", "host/partition", "host/records", "host/session", "host/storage", "internal/bytesize", "internal/yield"}},
	"host/approval":  {own: []string{"abi", "host/partition", "host/records", "host/report", "host/storage"}},
	"host/metering":  {own: []string{"abi", "host/partition", "host/records", "host/storage"}},

	"host/report":              {own: []string{"abi"}},
	"host/search":              {others: []string{"github.com/blevesearch/snowballstem", "golang.org/x/text"}},
	"host/search/index":        {own: []string{"abi", "host/search", "host/storage", "internal/int8vec", "internal/strictjson", "internal/yield"}},
	"host/declare":             {own: []string{"internal/lazyregexp", "abi"}},
	"host/txn":                 {own: []string{"host/storage", "internal/fairlock"}},
	"host/txn/txntest":         {own: []string{"host/storage", "host/storage/bolt", "host/storage/mem"}},
	"host/memory":              {own: []string{"abi", "schema", "internal/mergepatch", "internal/spell", "host/memory/block", "host/memory/collection", "host/memory/document", "host/memory/fact", "host/memory/kind", "host/memory/transcript", "host/memory/variables", "host/storage", "host/txn", "host/approval", "host/ledger", "host/metering", "host/artifact", "host/session", "host/declare", "host/model/lexical", "host/search/index", "host/partition", "host/records", "host/report"}, others: []string{"github.com/oklog/ulid/v2"}},
	"host/memory/kind":         {own: []string{"abi", "schema", "internal/bytesize", "internal/strictjson", "host/declare", "host/storage"}},
	"host/memory/block":        {own: []string{"abi", "schema", "host/declare", "host/memory/kind", "host/search", "host/storage"}},
	"host/memory/fact":         {own: []string{"abi", "schema", "host/declare", "host/memory/kind", "host/storage"}},
	"host/memory/variables":    {own: []string{"abi", "schema", "host/declare", "host/memory/kind", "host/storage"}},
	"host/memory/kindtest":     {own: []string{"abi", "schema", "host/declare", "host/memory/kind", "host/storage"}},
	"host/memory/document":     {own: []string{"abi", "schema", "internal/bytesize", "internal/mergepatch", "internal/strictjson", "host/declare", "host/memory/kind", "host/storage"}},
	"host/app":                 {own: []string{"internal/lazyregexp", "host/problem", "abi", "schema", "internal/strictjson", "internal/spell", "host/agent", "host/agent/abl", "host/declare", "host/machine", "host/search", "internal/bytesize"}, others: []string{"github.com/goccy/go-yaml"}},
	"host/template":            {own: []string{"internal/lazyregexp", "abi", "internal/strictjson"}},
	"host/journal":             {own: []string{"abi"}},
	"host/model":               {own: []string{"internal/lazyregexp", "abi", "schema", "host/model/lexical", "internal/bytesize", "internal/spell", "internal/strictjson"}, others: []string{"github.com/goccy/go-yaml"}},
	"host/model/lexical":       {own: []string{"host/search"}},
	"host/model/modeltest":     {},
	"host/model/openai":        {own: []string{"abi", "host/model"}, others: []string{"github.com/sashabaranov/go-openai"}},
	"host/agent/abl":           {own: []string{"internal/lazyregexp", "host/problem", "internal/spell"}},
	"host/machine/machinetest": {},
	"host/problem":             {},
	"internal/lazyregexp":      {},
	"host/machine":             {own: []string{"internal/lazyregexp", "host/problem", "abi", "host/declare", "internal/spell"}},
	"host/agent/agenttest":     {own: []string{"abi", "host/agent", "host/agent/abl", "host/model", "host/report"}},
	"host/agent":               {own: []string{"host/problem", "abi", "host/agent/abl", "host/declare", "host/model", "host/report", "internal/spell"}},
	"host": {own: []string{"host/problem", "abi", "host/approval", "schema", "internal/strictjson", "internal/spell", "host/admission", "host/agent", "host/agent/abl", "host/app", "host/engine", "host/extract/chunk", "host/journal", "host/machine", "host/memory", "host/memory/block", "host/memory/kind", "host/memory/transcript", "host/memory/variables", "host/model", "host/partition", "host/search/index", "host/sleep", "host/storage", "host/template", "host/ledger", "host/metering", "host/artifact", "host/session", "host/declare", "internal/bytesize", "host/report"},
		others: []string{"github.com/oklog/ulid/v2", "golang.org/x/sys"}},

	"host/memory/collection": {own: []string{"abi", "schema", "internal/strictjson", "host/declare", "host/memory/kind", "host/model/lexical", "host/search", "host/search/index", "host/storage"}},
	"host/sleep":             {own: []string{"abi", "host/declare", "host/model"}},
	"host/memory/transcript": {own: []string{"abi", "schema", "host/declare", "host/memory/kind", "host/storage"}},

	"host/server/mcpapi": {own: []string{"abi", "host/approval", "host", "host/app", "host/memory", "host/memory/block", "host/session", "host/declare", "host/report", "internal/strictjson"}, others: []string{"github.com/modelcontextprotocol/go-sdk"}},

	"host/server/tenants": {own: []string{"abi", "internal/spell", "host", "host/app", "host/memory", "host/search/index", "host/storage", "host/metering", "host/report", "host/artifact", "host/declare"}},
	"host/server/httpapi": {own: []string{"abi", "host/approval", "host/engine", "internal/strictjson", "host", "host/server/auth", "host/admission", "host/app", "host/server/tenants", "host/extract", "host/server/httpapi/apitypes", "host/memory", "host/memory/block", "host/ledger", "host/metering", "host/model", "host/artifact", "host/session", "host/declare", "internal/bytesize", "internal/yield", "host/report"},
		others: []string{"github.com/danielgtaylor/huma/v2", "golang.org/x/time"}},
	"host/server/httpapi/apitypes": {own: []string{"abi", "host/report"}},
	"internal/service":             {own: []string{"abi", "host/engine", "host", "host/server/auth", "host/server/tenants", "host/extract", "host/server/httpapi", "host/server/mcpapi", "host/server/telemetry"}},

	"internal/cli/exitcode":      {own: []string{"abi"}},
	"internal/connections":       {},
	"internal/double":            {own: []string{"host/problem", "abi", "host", "host/model", "host/admission", "host/app", "host/engine", "host/memory", "host/storage", "host/storage/mem", "internal/spell", "internal/strictjson", "host/session", "host/declare"}},
	"internal/double/doubletest": {own: []string{"internal/cli"}},
	"internal/cli": {own: []string{"internal/lazyregexp", "host/problem", "abi", "schema", "host/approval", "host/model", "host/model/openai", "host/agent/abl", "host/engine/js", "host/machine", "internal/connections", "internal/double", "host", "host/server/auth", "host/admission", "host/server/tenants", "host/extract", "host/server/httpapi", "host/server/telemetry", "internal/service", "host/server/mcpapi", "host/app", "host/engine", "host/engine/wasm", "host/engine/python/distribution", "host/engines", "abi/conformance", "host/sandbox", "host/memory", "host/memory/block", "host/storage", "host/storage/bolt", "host/storage/mem", "internal/strictjson", "internal/cachefs", "internal/spell", "host/server/httpapi/apitypes", "sdk/client", "host/ledger", "host/metering", "host/session", "host/declare", "internal/bytesize", "host/report", "internal/cli/exitcode"},
		others: []string{"github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/term"}},
	"cmd/toolrun":               {own: []string{"host/engines", "internal/cli"}},
	"internal/runtests":         {},
	"internal/bindgen":          {own: []string{"abi"}},
	"internal/bindgen/generate": {own: []string{"abi", "internal/bindgen"}},
	"internal/arch":             {},
	"internal/words":            {},

	"hostile":          {own: []string{"abi", "host/sandbox", "hostile/corpus", "hostile/baseline", "hostile/native", "internal/cli/exitcode"}, others: []string{"golang.org/x/sys"}},
	"hostile/native":   {own: []string{"abi", "host/sandbox", "host/sandbox/sandboxtest", "host/engine"}, others: []string{"golang.org/x/sys"}},
	"hostile/corpus":   {own: []string{"abi", "internal/wasm/wasmtest", "internal/wasm/binary"}, others: []string{"github.com/rogpeppe/go-internal"}},
	"hostile/baseline": {own: []string{"hostile/corpus"}, others: []string{"github.com/dop251/goja", "github.com/evanw/esbuild", "github.com/goccy/go-yaml", "github.com/santhosh-tekuri/jsonschema/v5", "github.com/tetratelabs/wazero", "golang.org/x/sys"}},

	"host/sandbox": {own: []string{"abi", "host/engine", "internal/codecache"}, others: []string{"github.com/landlock-lsm/go-landlock", "golang.org/x/sys", "kernel.org/pub/linux/libs/security/libcap/psx"}},

	"host/sandbox/sandboxtest": {others: []string{"golang.org/x/sys"}},

	"host/server/auth": {own: []string{"abi"},
		others: []string{"github.com/coreos/go-oidc/v3", "github.com/go-jose/go-jose/v4", "github.com/rogpeppe/go-internal/lockedfile"}},
	"host/admission":        {own: []string{"abi", "host/engine"}},
	"host/server/telemetry": {own: []string{"abi", "host", "host/approval", "host/report"}, others: []string{"github.com/prometheus/client_golang", "go.opentelemetry.io/otel"}},
	"host/engines/generate": {own: []string{"host/engine", "host/engines"}},
	"host/engines":          {own: []string{"abi", "host/sandbox", "host/engine", "host/extract", "host/extract/pdfium", "host/engine/js", "host/engine/python", "host/engine/python/distribution", "host/engine/wasm"}},

	"docs":           {},
	"docs/embedding": {own: []string{"abi", "host", "host/admission", "host/app", "host/server/tenants", "host/sandbox", "host/engines", "host/storage/bolt", "host/report"}},

	"bench/measure":    {},
	"bench/compare":    {},
	"bench/recall":     {own: []string{"bench/measure", "host/model/lexical", "host/search/index", "host/storage", "host/storage/bolt"}, others: []string{"github.com/philippgille/chromem-go"}},
	"bench/neighbours": {},
	"bench/service":    {own: []string{"abi", "bench/measure", "host", "host/server/auth", "host/app", "host/server/tenants", "host/sandbox", "host/engine", "host/engine/python/distribution", "host/server/httpapi", "host/engines", "host/storage", "host/storage/bolt", "host/storage/mem"}},
	"bench/isolation":  {own: []string{"abi", "bench/measure", "host", "host/admission", "host/app", "host/sandbox", "host/engine", "host/engine/python/distribution", "host/engines", "host/storage/mem"}},
	"bench": {own: []string{"abi", "bench/measure", "host", "host/app", "host/engine", "host/engine/js", "host/memory", "host/storage/bolt"},
		others: []string{"github.com/dop251/goja", "go.etcd.io/bbolt"}},
	"bench/wasm": {own: []string{"abi", "bench/measure", "host/engine", "host/engine/wasm", "internal/wasm/binary", "internal/wasm/fuel", "internal/wasm/wasmtest"},
		others: []string{"github.com/extism/go-sdk", "github.com/tetratelabs/wazero"}},
	"bench/wasm/counter": {own: []string{"abi/guest/go"}},
	"bench/wasm/work":    {},

	"sdk/temporal": {own: []string{"abi", "host", "host/engine", "host/report"}, others: []string{"go.temporal.io/sdk"}},
}

func TestImports(t *testing.T) {
	used := map[string]bool{}
	set := token.NewFileSet()
	for _, file := range sourceFiles(t) {
		used[file.pkg] = true
		if !file.test {
			checkImports(t, file, file.parse(t, set, parser.ImportsOnly))
		}
	}
	for pkg := range rules {
		if !used[pkg] {
			t.Errorf("rules lists the package %s, which does not exist", pkg)
		}
	}
}

func checkImports(t *testing.T, file sourceFile, parsed *ast.File) {
	t.Helper()
	r, ok := rules[file.pkg]
	if !ok {
		t.Errorf("%s: the package %s has no line in rules; add its allowed imports", file.path, file.pkg)
		return
	}
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if !r.allows(imported) {
			t.Errorf("%s: %s may not import %s", file.path, file.pkg, imported)
		}
	}
}

func (r rule) allows(imported string) bool {
	if own, ok := strings.CutPrefix(imported, module); ok {
		return slices.Contains(r.own, own)
	}
	if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") {
		return true // the standard library
	}
	return slices.ContainsFunc(r.others, func(other string) bool {
		return imported == other || strings.HasPrefix(imported, other+"/")
	})
}
