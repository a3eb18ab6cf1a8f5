package client

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
)

func TestNextEvent(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"events", "event: log\ndata: {}\n\nevent: result\ndata: {\"a\": 1}\n\n", []string{"log {}", `result {"a": 1}`}},
		{"lines of CRLF", "event: log\r\ndata: {}\r\n\r\n", []string{"log {}"}},
		{"comments and other fields", ": alive\n\nid: 7\nretry: 5\nevent: log\ndata: x\n\n", []string{"log x"}},
		{"several lines of data", "data: a\ndata: b\n\n", []string{" a\nb"}},
		{"no space, and two", "data:a\n\ndata:  b\n\n", []string{" a", "  b"}},
		{"empty data", "event: log\ndata:\n\n", []string{"log "}},
		{"a name without data is ignored", "event: log\n\ndata: x\n\n", []string{" x"}},
		{"an incomplete event", "event: log\ndata: x\n", nil},
	} {
		var got []string
		from := bufio.NewReader(strings.NewReader(tt.text))
		for {
			name, data, err := nextEvent(from)
			if err != nil {
				break
			}
			got = append(got, name+" "+string(data))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q; want %q", tt.name, got, tt.want)
		}
	}
}

// FuzzFollow reads arbitrary bytes as the events of a run. follow must return, and report only
// valid Results and log lines.
func FuzzFollow(f *testing.F) {
	f.Add([]byte("event: log\ndata: {\"attempt\":1,\"level\":\"info\",\"text\":\"a\"}\n\nevent: result\ndata: {\"ok\":true}\n\n"))
	f.Add([]byte("event: problem\r\ndata: {\"code\":\"not_found\",\"errors\":[{\"message\":\"a\"},{\"message\":\"b\",\"location\":\"c\"}]}\r\n\r\n"))
	f.Add([]byte(":\n\ndata\ndata: x\n\n"))
	f.Add([]byte("event: result\ndata: null\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		lines := 0
		result, err := follow(bytes.NewReader(text), func(int, abi.LogLine) { lines++ }, nil)
		if max := bytes.Count(text, []byte("log")); lines > max {
			t.Errorf("follow returned %d lines; want at most %d", lines, max)
		}
		if e, ok := errors.AsType[*Error](err); ok && (e.Fault == nil || fmt.Sprint(e) == "") {
			t.Errorf("follow returned the error %#v; want an error with a fault", err)
		}
		if err == nil && !bytes.Contains(text, []byte("result")) {
			t.Errorf("follow returned the Result %+v; want an error, because the result event is missing", result)
		}
		if _, err := json.Marshal(result); err != nil {
			t.Errorf("Marshal of the Result = %v; want nil", err)
		}
	})
}

func TestBounded(t *testing.T) {
	for _, tt := range []struct {
		size int
		want error
	}{{0, nil}, {9, nil}, {10, nil}, {11, errTooLarge}, {5000, errTooLarge}} {
		got, err := io.ReadAll(&bounded{strings.NewReader(strings.Repeat("x", tt.size)), 10})
		if err != tt.want || err == nil && len(got) != tt.size {
			t.Errorf("%d bytes of 10: %d, %v; want %v", tt.size, len(got), err, tt.want)
		}
	}
}
