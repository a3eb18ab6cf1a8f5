package examples_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/internal/cli"
)

// twins maps the name of a JavaScript tool to inputs of runs. The twins of the tool are plug-ins
// and Python tools that must return the same results. The runs are executed in order on one
// database.
var twins = map[string][]string{
	"remember_me": {"language=fr --user ann", "--user ann", "language=pt-BR --user ann", "language=French --user ann", "language=fr", "--user bob", "language:=1 --user ann"},
	"conversation_summary": {"note=Wants_to_move_to_Lyon_in_spring --session s1", "note=Has_two_cats_and_a_piano --session s1",
		"note=Asked_for_an_offer_with_insurance_and_packing_included --session s1", "note=" + strings.Repeat("x", 120) + " --session s1", "note=x", "--session s1"},
	"hit_counter":   {"page=/home", "page=/home", "page=home", ""},
	"order_history": {"item=tea price:=0.1 --user ann", "item=milk price:=0.2 --user ann", "--user ann", "item=tea price:=1", "item=wine --user ann"},
	"feature_flags": {"--user ann", ""},
	"greeting":      {`--user ann --session s1 --metadata {"userName":"Ann","customerTier":"gold"}`, "--user ann", "--session s2", "x=1"},
	"route_ticket":  {"--context @route_ticket/context.json --user ann", "--context @route_ticket/context.json --user ann", "--user ann"},
}

// TestTwins runs each twin and its JavaScript tool and compares their Results, except for names,
// ids and usage.
func TestTwins(t *testing.T) {
	tested := map[string]bool{}
	for _, plugin := range tools(t) {
		at := strings.LastIndexByte(plugin, '_')
		tool := plugin[:max(at, 0)]
		runs, ok := twins[tool]
		if !ok {
			continue
		}
		tested[tool] = true
		t.Run(plugin, func(t *testing.T) {
			first, second := copyExamples(t, tool), copyExamples(t, plugin)
			for _, args := range runs {
				want, got := resultOf(t, first, tool, args), resultOf(t, second, plugin, args)
				if !reflect.DeepEqual(got, want) {
					t.Errorf("toolrun run %s %s =\n%v\n%s returns\n%v", plugin, args, text(t, got), tool, text(t, want))
				}
			}
		})
	}
	for tool := range twins {
		if !tested[tool] {
			t.Errorf("%s has no twin", tool)
		}
	}
}

// errorClass matches the class name that Python writes before the text of an error.
var errorClass = regexp.MustCompile(`^[A-Z][A-Za-z]*Error: `)

// resultOf runs a tool and returns its Result without the fields that differ between runs and
// engines.
func resultOf(t *testing.T, dir, tool, args string) map[string]any {
	t.Helper()
	var out, errs bytes.Buffer
	cli.Main(context.Background(), cli.Env{
		Args: append([]string{"run", tool, "--json"}, strings.Fields(args)...), Stdout: &out, Stderr: &errs, Dir: dir, CacheDir: cacheDir, Getenv: getenv,
	})
	var result map[string]any
	if err := json.Unmarshal(out.Bytes(), &result); err != nil {
		t.Fatalf("toolrun run %s %s = %s %s", tool, args, out.Bytes(), errs.Bytes())
	}
	for _, key := range []string{"run_id", "tool"} {
		if _, ok := result[key]; !ok {
			t.Errorf("the Result of %s lacks %s", tool, key)
		}
		delete(result, key)
	}
	usage, _ := result["usage"].(map[string]any)
	for _, key := range []string{"wall_ms", "cpu_ms"} {
		if _, ok := usage[key].(float64); !ok {
			t.Errorf("the usage of %s lacks %s", tool, key)
		}
		delete(usage, key)
	}
	delete(usage, "memory_bytes") // omitted for JavaScript
	logs, _ := result["logs"].([]any)
	for _, line := range logs {
		delete(line.(map[string]any), "time")
	}
	if fault, ok := result["error"].(map[string]any); ok {
		fault["message"] = errorClass.ReplaceAllString(fmt.Sprint(fault["message"]), "")
		for _, key := range []string{"file", "line", "column", "stack", "id"} {
			delete(fault, key)
		}
	}
	return result
}

func text(t *testing.T, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
