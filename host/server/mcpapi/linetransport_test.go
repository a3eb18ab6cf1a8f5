package mcpapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host"
)

// answered is a response line from the server.
type answered struct {
	ID    any
	Error *struct {
		Code    int
		Message string
	}
	Result json.RawMessage
}

// converse sends lines to a server and returns the responses of the server.
func converse(t *testing.T, lines ...string) (answers []answered) {
	t.Helper()
	var out strings.Builder
	if err := serve(t, openShop(t)).ServeStdio(t.Context(), host.Caller{User: "ann"}, strings.NewReader(strings.Join(lines, "\n")), &out); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		var a answered
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		answers = append(answers, a)
	}
	return answers
}

const (
	initializeLine = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	initialized    = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	callCount      = `{"jsonrpc":"2.0","id":"last","method":"tools/call","params":{"name":"count"}}`
)

// TestBadLinesAreAnswered sends invalid lines. Each line gets an error response, and the session
// continues.
func TestBadLinesAreAnswered(t *testing.T) {
	for _, tt := range []struct {
		name, line string
		code       int
		id         any
	}{
		{name: "invalid JSON", line: "not json", code: -32700},
		{name: "half a message", line: `{"jsonrpc":"2.0","id":7,`, code: -32700},
		{name: "another version", line: `{"jsonrpc":"1.0","id":7,"method":"ping"}`, code: -32600, id: 7.0},
		{name: "a text", line: `"ping"`, code: -32600},
		{name: "a batch", line: `[{"jsonrpc":"2.0","id":7,"method":"ping"}]`, code: -32600},
		{name: "no method", line: `{"jsonrpc":"2.0","id":"x"}`, code: -32600, id: "x"},
		{name: "deep", line: strings.Repeat("[", 100_000), code: -32700},
		{name: "long", line: `{"jsonrpc":"2.0","id":7,"method":"` + strings.Repeat("x", 5<<20) + `"}`, code: -32600},
	} {
		answers := converse(t, initializeLine, initialized, tt.line, "", "  \t", callCount)
		if len(answers) != 3 {
			t.Errorf("%s: answers = %+v; want three", tt.name, answers)
			continue
		}
		found := false
		for _, a := range answers {
			found = found || a.Error != nil && a.Error.Code == tt.code && a.ID == tt.id && a.Error.Message != ""
			if a.ID == "last" && (a.Error != nil || !strings.Contains(string(a.Result), "[1,2]")) {
				t.Errorf("%s: the call after it = %+v; want its output", tt.name, a)
			}
		}
		if !found {
			t.Errorf("%s: answers = %+v; want an error %d for the id %v", tt.name, answers, tt.code, tt.id)
		}
	}
}

// TestCodesOfErrors sends two kinds of requests: requests before a session has begun, and requests
// for unknown resources.
func TestCodesOfErrors(t *testing.T) {
	early := converse(t, callCount)
	if len(early) != 1 || early[0].Error == nil || early[0].Error.Code != -32600 {
		t.Errorf("a call before initialize = %+v; want an error -32600", early)
	}
	for version, code := range map[string]int{"2024-11-05": -32002, "2025-06-18": -32002, "2025-11-25": -32002} {
		answers := converse(t, strings.Replace(initializeLine, "2025-06-18", version, 1), initialized,
			`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"toolrun://shop/memory/nothing"}}`)
		if len(answers) != 2 || answers[1].Error == nil || answers[1].Error.Code != code {
			t.Errorf("a resource that does not exist, in %s = %+v; want an error %d", version, answers, code)
		}
	}
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	answers := converse(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"toolrun://shop/memory/nothing",%s}}`, meta))
	if len(answers) != 1 || answers[0].Error == nil || answers[0].Error.Code != -32602 {
		t.Errorf("a resource that does not exist, in 2026-07-28 = %+v; want an error -32602", answers)
	}
}
