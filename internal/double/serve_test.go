package double_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/internal/double"
)

var update = flag.Bool("update", false, "write the replies of testdata")

// TestExchanges sends the requests in testdata and compares the replies. Requests are the lines
// that start with {, and expected replies are the lines that start with "= ". Other lines are
// comments.
func TestExchanges(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("testdata = %q, %v", files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := exchange(t, string(want))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the replies differ (-want +got):\n%s", diff)
			}
		})
	}
}

// exchange returns the text of a file with the actual replies to its requests.
func exchange(t *testing.T, text string) string {
	t.Helper()
	var requests strings.Builder
	for line := range strings.Lines(text) {
		if isRequest(line) {
			requests.WriteString(line)
		}
	}
	var out bytes.Buffer
	if err := double.Serve(t.Context(), strings.NewReader(requests.String()), &out, double.Config{Load: load}); err != nil {
		t.Fatal(err)
	}
	replies := strings.Split(out.String(), "\n")
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "= ") {
			continue
		}
		b.WriteString(line)
		if isRequest(line) {
			fmt.Fprintf(&b, "= %s\n", own(t, replies[0]))
			replies = replies[1:]
		}
	}
	return b.String()
}

// own returns the parts of a reply that this package determines. own omits measured times, ids, the
// operation table, and the texts of memory faults.
func own(t *testing.T, reply string) string {
	t.Helper()
	var document map[string]any
	if err := json.Unmarshal([]byte(reply), &document); err != nil {
		t.Fatalf("the reply %q is not JSON: %v", reply, err)
	}
	result, _ := document["result"].(map[string]any)
	delete(result, "usage")
	delete(result, "operations")
	for _, holder := range []map[string]any{document, result} {
		if fault, _ := holder["error"].(map[string]any); fault["op"] != nil {
			delete(fault, "message")
			delete(fault, "hint")
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(document); err != nil {
		t.Fatal(err)
	}
	return runID.ReplaceAllString(strings.TrimSpace(b.String()), "run_ID")
}

// runID matches the id of a run.
var runID = regexp.MustCompile(`run_[0-9A-Z]{26}`)

func isRequest(line string) bool {
	return strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "= ") && !strings.HasPrefix(line, "#")
}

// load reads app files from testdata.
func load(file string) (*app.App, func(), error) {
	if file != "app.yaml" {
		return nil, nil, abi.Faultf(abi.InvalidArgument, "the app file %s does not exist", file)
	}
	a, problems := app.Load(os.DirFS("testdata"), file)
	return a, func() {}, problems.Err()
}

// serve sends requests and returns the replies.
func serve(t *testing.T, in io.Reader) []string {
	t.Helper()
	var out bytes.Buffer
	if err := double.Serve(t.Context(), in, &out, double.Config{}); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func TestLongLine(t *testing.T) {
	long := `{"do":"clock","x":"` + strings.Repeat("x", 9<<20) + `"}`
	replies := serve(t, strings.NewReader(long+"\n"+`{"id":1,"do":"reset"}`))
	if len(replies) != 2 || !strings.Contains(replies[0], `"code":"too_large"`) || replies[1] != `{"id":1,"ok":true}` {
		t.Errorf("the replies = %.200q; want too_large, and a reply to the next request", replies)
	}
}

func TestBounds(t *testing.T) {
	for _, test := range []struct {
		name, request string
		limit         int
	}{
		{"runs", `{"do":"begin"}`, 64},
		{"memories", `{"do":"open","memory":"m%d"}`, 999}, // one memory is open at the start
		{"tools", `{"do":"tool","tool":"t%d"}`, 64},
	} {
		t.Run(test.name, func(t *testing.T) {
			var requests strings.Builder
			for i := range test.limit + 1 {
				requests.WriteString(strings.ReplaceAll(test.request, "%d", fmt.Sprint(i)) + "\n")
			}
			replies := serve(t, strings.NewReader(requests.String()))
			if last := replies[test.limit-1]; !strings.Contains(last, `"ok":true`) {
				t.Errorf("reply %d = %s; want ok", test.limit, last)
			}
			if beyond := replies[test.limit]; !strings.Contains(beyond, `"code":"quota_exceeded"`) {
				t.Errorf("reply %d = %s; want quota_exceeded", test.limit+1, beyond)
			}
		})
	}
}

func TestDumpIsBounded(t *testing.T) {
	var records strings.Builder
	for i := range 1001 {
		fmt.Fprintf(&records, `,{"store":"prefs","user":"u%d","content":{}}`, i)
	}
	replies := serve(t, strings.NewReader(`{"do":"open","app":{"app":"a","memory":{"prefs":{"access":"user"}}}}
{"do":"seed","records":[`+records.String()[1:]+`]}
{"do":"dump"}
{"do":"dump","user":"u7"}
`))
	if !strings.Contains(replies[1], `"stored":1001`) || !strings.Contains(replies[2], `"code":"too_large"`) || !strings.Contains(replies[3], `"user":"u7"`) {
		t.Errorf("the replies = %.300q; want all stored, too_large, and the record of u7", replies[1:])
	}
}

// TestCancelled cancels Serve during a run, while the client sends nothing.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, client := io.Pipe()
	defer client.Close()
	out := writes(cancel)
	ended := make(chan error, 1)
	go func() { ended <- double.Serve(ctx, in, out, double.Config{}) }()
	if _, err := io.WriteString(client, `{"do":"begin"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("Serve = %v; want nil", err)
	}
}

// writes is an io.Writer that calls a function on each write.
type writes func()

func (w writes) Write(p []byte) (int, error) {
	w()
	return len(p), nil
}

var errDisconnected = errors.New("the reader has disconnected")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errDisconnected }

// TestReleased checks that every app file is released: when its memory is reopened or closed, and
// when Serve ends.
func TestReleased(t *testing.T) {
	loaded, released := 0, 0
	cfg := double.Config{Load: func(string) (*app.App, func(), error) {
		loaded++
		return shop(t), func() { released++ }, nil
	}}
	requests := `{"do":"open","memory":"a","file":"x"}
{"do":"begin","memory":"a"}
{"do":"open","memory":"a","file":"x"}
{"do":"open","memory":"b","file":"x"}
{"do":"close","memory":"b"}
{"do":"begin","memory":"a"}
`
	if err := double.Serve(t.Context(), strings.NewReader(requests), io.Discard, cfg); err != nil {
		t.Fatal(err)
	}
	if loaded != 3 || released != loaded {
		t.Errorf("%d app files were read and %d released; want 3 and 3", loaded, released)
	}
}

// TestClockRuns checks that a clock that was not set follows the system clock.
func TestClockRuns(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	requests := `{"do":"clock","advance":"24h"}` + "\n" + `{"do":"clock"}` + "\n" + `{"do":"clock","memory":"","now":"2031-01-01T00:00:00Z"}` + "\n" + `{"do":"clock"}`
	var out bytes.Buffer
	cfg := double.Config{Now: func() time.Time { now = now.Add(time.Second); return now }}
	if err := double.Serve(t.Context(), strings.NewReader(requests), &out, cfg); err != nil {
		t.Fatal(err)
	}
	replies := strings.Split(out.String(), "\n")
	if !strings.Contains(replies[1], `"now":"2030-01-02T00:00:`) || strings.Contains(replies[1], `00:00:00Z`) {
		t.Errorf("the clock shows %s; want a day and some seconds after the start", replies[1])
	}
	if !strings.Contains(replies[3], `"now":"2031-01-01T00:00:00Z"`) {
		t.Errorf("the clock shows %s; want the time that was set", replies[3])
	}
}

// TestPatience checks that a client can keep a run open for longer than the time limit of its tool.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, client := io.Pipe()
		replies := make(chan string)
		ended := make(chan error, 1)
		go func() { ended <- double.Serve(t.Context(), in, sends(replies), double.Config{App: shop(t)}) }()
		request := func(text string) string {
			_, _ = io.WriteString(client, text+"\n")
			return <-replies
		}
		if reply := request(`{"do":"begin","tool":"order","input":{"item":"tea"}}`); !strings.Contains(reply, `"run":"r1"`) {
			t.Errorf("begin = %s; want a run", reply)
		}
		time.Sleep(24 * time.Hour)
		if reply := request(`{"do":"commit","run":"r1","output":{}}`); !strings.Contains(reply, `"ok":true,"output":{}`) {
			t.Errorf("commit = %s; want a successful Result", reply)
		}
		client.Close()
		if err := <-ended; err != nil {
			t.Errorf("Serve = %v", err)
		}
	})
}

// sends is an io.Writer that sends each write to a channel.
type sends chan<- string

func (s sends) Write(p []byte) (int, error) {
	s <- string(p)
	return len(p), nil
}

func TestLargeOutput(t *testing.T) {
	large := strings.Repeat("x", 1<<20)
	replies := serve(t, strings.NewReader(`{"do":"begin"}
{"do":"commit","run":"r1","output":"`+large+`"}
{"do":"begin"}
{"do":"commit","run":"r2","context":{"a":"`+large+`"}}
`))
	for _, reply := range []string{replies[1], replies[3]} {
		if !strings.Contains(reply, `"code":"output_limit"`) {
			t.Errorf("commit = %.300s; want output_limit", reply)
		}
	}
}

// TestOperations checks that the reply contains the complete operation table.
func TestOperations(t *testing.T) {
	var reply struct {
		Result struct{ Operations abi.Table }
	}
	if err := json.Unmarshal([]byte(serve(t, strings.NewReader(`{"do":"open"}`))[0]), &reply); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(abi.Operations().Key(), reply.Result.Operations.Key()); diff != "" {
		t.Errorf("the operations differ (-want +got):\n%s", diff)
	}
}

func TestBrokenOutput(t *testing.T) {
	err := double.Serve(t.Context(), strings.NewReader(`{"do":"begin"}`+"\n"+`{"do":"begin"}`), broken{}, double.Config{})
	if !errors.Is(err, errDisconnected) {
		t.Errorf("Serve = %v; want %v", err, errDisconnected)
	}
}

// TestSeed checks that the same seed leads to the same ids, and another seed to different ids.
func TestSeed(t *testing.T) {
	ids := func(seed int) []string {
		requests := fmt.Sprintf(`{"do":"clock","now":"2030-01-01T00:00:00Z"}
{"do":"random","seed":%d}
{"do":"begin"}
{"do":"begin"}
`, seed)
		return runID.FindAllString(strings.Join(serve(t, strings.NewReader(requests)), "\n"), -1)
	}
	first := ids(1)
	if len(first) != 4 || first[0] == first[2] {
		t.Errorf("the ids of two runs = %q; want two different ids, each twice", first)
	}
	if again := ids(1); !slices.Equal(again, first) {
		t.Errorf("the ids after the same seed = %q; want %q", again, first)
	}
	if other := ids(2); slices.Equal(other, first) {
		t.Errorf("the ids after another seed are the same: %q", other)
	}
}

// TestDocumentation sends the requests of the example in the documentation.
func TestDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/double.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "$ toolrun double --app app.yaml\n")
	example, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatal("the page has no example")
	}
	var requests, want []string
	for line := range strings.Lines(example) {
		if strings.Contains(line, `"do":`) {
			requests = append(requests, line)
		} else {
			want = append(want, strings.TrimSpace(line))
		}
	}
	var out bytes.Buffer
	cfg := double.Config{App: shop(t)}
	if err := double.Serve(t.Context(), strings.NewReader(strings.Join(requests, "")), &out, cfg); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(out.String()), "\n")); diff != "" {
		t.Errorf("the replies differ from the page (-page +got):\n%s", diff)
	}
}

// TestRequestsAreDocumented checks that the documentation has a row for every request.
func TestRequestsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/double.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(serve(t, strings.NewReader(`{"do":"?"}`))[0], "use one of: ")
	list, _, _ = strings.Cut(list, `"`)
	for _, name := range strings.Split(list, ", ") {
		if !found || !strings.Contains(string(page), "| `"+name+"` |") {
			t.Errorf("docs/reference/double.md has no row for %q", name)
		}
	}
}

// shop is the app of testdata.
func shop(t testing.TB) *app.App {
	t.Helper()
	a, _, err := load("app.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func FuzzServe(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txt")
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var out bytes.Buffer
		if err := double.Serve(t.Context(), bytes.NewReader(text), &out, double.Config{}); err != nil {
			t.Errorf("Serve = %v", err)
		}
	})
}
