package fuel_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/toolrun/toolrun/internal/wasm/binary"
	"github.com/toolrun/toolrun/internal/wasm/fuel"
)

// script is the output of wast2json for a file of the WebAssembly test suite.
type script struct {
	Commands []struct {
		Type, Name, As, Filename string
		Line                     int
		Action                   struct {
			Type, Module, Field string
			Args                []value
		}
	}
}

type value struct {
	Type  string
	Value any
}

// TestSpec runs the WebAssembly test suite in wazero's sources twice: unchanged and rewritten. In
// both cases, each command must have the same outcome and leave the same memory and globals.
func TestSpec(t *testing.T) {
	suite := suiteFolder()
	if _, err := os.Stat(suite); err != nil {
		t.Skip("wazero's sources are not available: no directory internal/integration_test/spectest")
	}
	var files []string
	for _, version := range []string{"v1", "v2", "extended-const"} {
		found, err := filepath.Glob(filepath.Join(suite, version, "testdata", "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 150 {
		t.Fatalf("found %d scripts; want the suite of WebAssembly 1.0 and 2.0", len(files))
	}
	modules, actions := 0, 0
	for _, file := range files {
		version := filepath.Base(filepath.Dir(filepath.Dir(file)))
		t.Run(version+"/"+strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			d := newDuel(t, filepath.Join(suite, "testdata", "spectest.wasm"))
			d.run(file)
			modules, actions = modules+d.modules, actions+d.actions
		})
	}
	if modules < 2000 || actions < 40000 {
		t.Errorf("compared %d modules and %d actions; want at least 2000 and 40000", modules, actions)
	}
}

// suiteFolder returns the directory of the test suite in wazero's sources.
func suiteFolder() string {
	file, _ := runtime.FuncForPC(reflect.ValueOf(wazero.NewRuntime).Pointer()).FileLine(0)
	return filepath.Join(filepath.Dir(file), "internal", "integration_test", "spectest")
}

// suiteModules returns the files of all modules in the suite. suiteModules returns none if wazero's
// sources are not available.
func suiteModules(t testing.TB) []string {
	files, err := filepath.Glob(filepath.Join(suiteFolder(), "v*", "testdata", "*.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// duel runs every module in two forms: unchanged and rewritten.
type duel struct {
	t                *testing.T
	plain, fuelled   *side
	modules, actions int
}

type side struct {
	runtime wazero.Runtime
	named   map[string]api.Module
	last    api.Module
}

// features are the WebAssembly features that plug-ins may use.
const features = api.CoreFeaturesV2 | experimental.CoreFeaturesExtendedConst

func newDuel(t *testing.T, spectest string) *duel {
	ctx := context.Background()
	d := &duel{t: t}
	for _, s := range []**side{&d.plain, &d.fuelled} {
		r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCoreFeatures(features))
		t.Cleanup(func() { r.Close(ctx) })
		*s = &side{runtime: r, named: map[string]api.Module{}}
	}
	refill(t, d.fuelled.runtime, nil)
	wasm, err := os.ReadFile(spectest)
	if err != nil {
		t.Fatal(err)
	}
	d.instantiate(wasm, "spectest", "spectest")
	return d
}

func (d *duel) run(file string) {
	raw, err := os.ReadFile(file)
	if err != nil {
		d.t.Fatal(err)
	}
	var s script
	if err := json.Unmarshal(raw, &s); err != nil {
		d.t.Fatal(err)
	}
	for i, c := range s.Commands {
		switch c.Type {
		case "module", "assert_unlinkable", "assert_uninstantiable":
			wasm, err := os.ReadFile(filepath.Join(filepath.Dir(file), c.Filename))
			if err != nil {
				continue // skip a module in text format
			}
			as := ""
			if next := s.Commands[min(i+1, len(s.Commands)-1)]; next.Type == "register" {
				as = next.As // wazero sets the name of a module only at instantiation
			}
			d.instantiate(wasm, c.Name, as)
		case "action", "assert_return", "assert_trap", "assert_exhaustion":
			if c.Action.Type == "invoke" {
				d.invoke(c.Action.Module, c.Action.Field, c.Action.Args)
			}
		}
		if d.t.Failed() {
			d.t.Fatalf("at line %d, %s", c.Line, c.Type)
		}
	}
}

// instantiate instantiates both forms of a module. The argument "as" is the name under which later
// modules import from this module.
func (d *duel) instantiate(wasm []byte, name, as string) {
	ctx := context.Background()
	d.plain.last, d.fuelled.last = nil, nil
	plain, err := d.plain.runtime.CompileModule(ctx, wasm)
	if err != nil {
		return // skip a command that has no result to compare
	}
	m, err := binary.Parse(wasm, binary.Limits{})
	if err != nil {
		return // the baseline of package binary lists modules that only Parse rejects
	}
	rewritten, err := fuel.Rewrite(m, fuel.Options{})
	if err != nil {
		d.t.Fatal(err)
	}
	fuelled, err := d.fuelled.runtime.CompileModule(ctx, rewritten)
	if err != nil {
		d.t.Fatalf("the rewritten module does not compile: %v", err)
	}
	d.modules++
	d.same("the instantiation", d.plain.start(plain, name, as), d.fuelled.start(fuelled, name, as))
}

func (s *side) start(compiled wazero.CompiledModule, name, as string) string {
	config := wazero.NewModuleConfig().WithName(as).WithStartFunctions()
	instance, err := s.runtime.InstantiateModule(context.Background(), compiled, config)
	if err == nil {
		s.last, s.named[name] = instance, instance
	}
	return outcome(err)
}

func (s *side) find(name string) api.Module {
	if name == "" {
		return s.last
	}
	return s.named[name]
}

// differs matches the parts of an error that the two forms report differently: the index of an
// unnamed function and the maximum size of a table.
var differs = regexp.MustCompile(`function\[\d+\]|maximum size mismatch.*`)

// outcome returns the text of an error without its stack trace and without the parts that the
// regular expression "differs" matches.
func outcome(err error) string {
	if err == nil {
		return "no error"
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return differs.ReplaceAllString(first, "...")
}

func (d *duel) invoke(module, field string, args []value) {
	var params []uint64
	for _, a := range args {
		params = append(params, a.words(d.t)...)
	}
	plain, fuelled := d.plain.find(module), d.fuelled.find(module)
	if plain == nil || fuelled == nil {
		return
	}
	d.actions++
	d.same(field, invoke(plain, field, params), invoke(fuelled, field, params))
	d.sameState(plain, fuelled)
}

// invoke calls an exported function and describes the outcome. References other than null differ
// between runs.
func invoke(m api.Module, field string, params []uint64) string {
	f := m.ExportedFunction(field)
	if f == nil {
		return "no such function"
	}
	results, err := f.Call(context.Background(), params...)
	if err != nil {
		return outcome(err)
	}
	for i, t := range f.Definition().ResultTypes() {
		if t == api.ValueType(binary.FuncRef) && i < len(results) && results[i] != 0 {
			results[i] = 1
		}
	}
	return fmt.Sprintf("%#x", results)
}

func (d *duel) sameState(plain, fuelled api.Module) {
	// The interface value for a missing memory contains a nil pointer but is not nil.
	if a, b := plain.Memory(), fuelled.Memory(); !reflect.ValueOf(a).IsNil() {
		x, _ := a.Read(0, a.Size())
		y, _ := b.Read(0, b.Size())
		if !bytes.Equal(x, y) {
			d.t.Errorf("the memories differ")
		}
	}
	a, b := plain.(experimental.InternalModule), fuelled.(experimental.InternalModule)
	for i := range a.NumGlobal() {
		x, y := a.Global(i), b.Global(i)
		if x.Type() != api.ValueType(binary.FuncRef) {
			d.same("a global", fmt.Sprint(x), fmt.Sprint(y))
		}
	}
}

func (d *duel) same(what, plain, fuelled string) {
	if plain != fuelled {
		d.t.Errorf("%s: unchanged %s, rewritten %s", what, plain, fuelled)
	}
}

// words returns a value in wazero's representation. A vector has two words, and each other value
// has one word.
func (v value) words(t *testing.T) []uint64 {
	if v.Type != "v128" {
		return []uint64{word(v.Type, v.Value)}
	}
	lanes := v.Value.([]any)
	width := 128 / len(lanes)
	words := []uint64{0, 0}
	for i, l := range lanes {
		bit := i * width
		words[bit/64] |= word("lane", l) & (1<<width - 1) << (bit % 64)
	}
	return words
}

func word(typ string, v any) uint64 {
	text, ok := v.(string)
	switch {
	case !ok || text == "null":
		return 0
	case strings.HasPrefix(text, "nan:"):
		return 0x7ff8_0000_7fc0_0000 // a NaN of 32 or 64 bits
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		if typ == "externref" {
			return n + 1 // 0 is null
		}
		return n
	}
	n, _ := strconv.ParseInt(text, 10, 64)
	if strings.Contains(typ, "32") {
		return uint64(uint32(n))
	}
	return uint64(n)
}
