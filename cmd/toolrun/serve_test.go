package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/report"
)

// countApp is an app with one tool that counts the runs of each user.
var countApp = map[string]string{
	"app.yaml": `
app: count
memory: {counts: {access: user}}
tools: {count: {source: count.js, description: counts, grants: {counts: readwrite}}}
`,
	"count.js": `
const seen = await memory.get_content("counts");
await memory.set_content("counts", {n: (seen?.n ?? 0) + 1});
return (seen?.n ?? 0) + 1;
`,
}

// buildToolrun returns the path of the program toolrun. The first call builds the program without
// test code, and later calls use the same program.
func buildToolrun(t testing.TB) string {
	t.Helper()
	binary, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// builtDir is the folder of the built command. TestMain creates and removes builtDir.
var builtDir string

var built = sync.OnceValues(func() (string, error) {
	binary := filepath.Join(builtDir, "toolrun")
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", binary, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return binary, nil
})

// serving is a running service process.
type serving struct {
	cmd    *exec.Cmd
	url    string
	stderr *bytes.Buffer
}

// startServe starts a service and waits until the service has printed its address.
func startServe(t testing.TB, binary string, args ...string) *serving {
	t.Helper()
	s := &serving{cmd: exec.Command(binary, append([]string{"serve", "--json", "--listen", "127.0.0.1:0"}, args...)...), stderr: &bytes.Buffer{}}
	s.cmd.Stderr = s.stderr
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	})
	var output struct{ URL string }
	if err := json.NewDecoder(out).Decode(&output); err != nil {
		_ = s.cmd.Wait()
		t.Fatalf("the service did not start: %v\n%s", err, s.stderr)
	}
	s.url = output.URL
	return s
}

// post sends a request. If the response has a body, post decodes the body into v.
func (s *serving) post(ctx context.Context, key, path, body string, headers map[string]string, v any) (status int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && v != nil {
		err = json.Unmarshal(text, v)
	}
	return response.StatusCode, err
}

// makeKeys creates a key file with one operator key.
func makeKeys(t testing.TB, binary, dir string) (file, secret string) {
	t.Helper()
	file = filepath.Join(dir, "keys.json")
	out, err := exec.Command(binary, "key", "create", "--keys", file, "--role", "operator", "--json", "test").Output()
	var key struct{ Secret string }
	if err == nil {
		err = json.Unmarshal(out, &key)
	}
	if err != nil {
		t.Fatalf("create a key: %v\n%s", err, out)
	}
	return file, key.Secret
}

func writeFiles(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// counter is a client that runs the counting tool repeatedly, one run after the other. If a run
// gets no response, the client repeats the run.
type counter struct {
	user          string
	done, repeats int
}

// work sends runs until the service stops responding or ctx ends.
func (c *counter) work(ctx context.Context, s *serving, key string) error {
	for ctx.Err() == nil {
		before := c.done
		if err := c.once(ctx, s, key); err != nil || c.done == before {
			return err
		}
	}
	return nil
}

// once sends one run. If the run gets no response, the client does not count it.
func (c *counter) once(ctx context.Context, s *serving, key string) error {
	body := fmt.Sprintf(`{"tool":"count","user_id":%q}`, c.user)
	headers := map[string]string{"Idempotency-Key": fmt.Sprint("run ", c.done)}
	var result report.Result
	status, err := s.post(ctx, key, "/api/v1/runs", body, headers, &result)
	if err != nil {
		return nil // the service was killed
	}
	if status != http.StatusOK || !result.OK {
		return fmt.Errorf("%s: run %d = %d %+v", c.user, c.done, status, result)
	}
	if want := fmt.Sprint(c.done + 1); string(result.Output) != want {
		return fmt.Errorf("%s: the result of run %d is %s; want %s", c.user, c.done, result.Output, want)
	}
	if result.Repeated {
		c.repeats++
	}
	c.done++
	return nil
}

// If a service is killed under load, it loses no acknowledged run and stores no part of an
// incomplete run. If a client repeats a run, the service executes the run only once. Sessions
// survive.
func TestServeSurvivesKill(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the test kills a process, which requires Linux")
	}
	rounds := 4
	if os.Getenv("TOOLRUN_SOAK") != "" {
		rounds = 20
	}
	binary, dir := buildToolrun(t), t.TempDir()
	writeFiles(t, dir, countApp)
	keys, key := makeKeys(t, binary, dir)
	clients := make([]*counter, 8)
	for i := range clients {
		clients[i] = &counter{user: fmt.Sprint("user", i)}
	}
	start := func() *serving {
		return startServe(t, binary, dir, "--keys", keys, "--db", filepath.Join(dir, "memory.db"), "--rate", "0")
	}
	s := start()
	if status, err := s.post(t.Context(), key, "/api/v1/sessions", `{"session_id":"s1","metadata":{"kept":true}}`, nil, nil); status != http.StatusCreated {
		t.Fatalf("start a session = %d, %v", status, err)
	}
	for round := range rounds {
		var work sync.WaitGroup
		for _, c := range clients {
			work.Go(func() {
				if err := c.work(t.Context(), s, key); err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(time.Duration(300+rand.IntN(500)) * time.Millisecond) // a random time, long enough for some runs
		_ = s.cmd.Process.Kill()
		work.Wait()
		_ = s.cmd.Wait()
		if t.Failed() {
			t.Fatalf("in round %d; the log of the service:\n%s", round, s.stderr)
		}
		s = start()
	}
	sum, repeats := 0, 0
	for _, c := range clients {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		if err := c.work(ctx, s, key); err != nil {
			t.Error(err)
		}
		cancel()
		sum, repeats = sum+c.done, repeats+c.repeats
	}
	if sum < rounds {
		t.Errorf("%d runs in %d rounds", sum, rounds)
	}
	t.Logf("%d kills, %d acknowledged runs, %d of them with results from before the kill", rounds, sum, repeats)
	response, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/api/v1/sessions/s1", nil)
	if err != nil {
		t.Fatal(err)
	}
	response.Header.Set("X-API-Key", key)
	answer, err := http.DefaultClient.Do(response)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || !bytes.Contains(text, []byte(`"kept":true`)) {
		t.Errorf("the session at the end = %s, %v", text, err)
	}
}

// If the service receives SIGTERM, it completes the running tools and sends their results. Then the
// process exits.
func TestServeDrains(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the test requires signals")
	}
	binary, dir := buildToolrun(t), t.TempDir()
	writeFiles(t, dir, map[string]string{
		"app.yaml": "app: slow\nmemory: {notes: {access: application}}\ntools: {slow: {source: slow.js, description: is slow, grants: {notes: readwrite}, limits: {timeout: 20s}}}\n",
		"slow.js":  `console.log("begun"); const end = Date.now() + 1500; while (Date.now() < end) {} await memory.set_content("notes", {done: true}); return "done"`,
	})
	keys, key := makeKeys(t, binary, dir)
	s := startServe(t, binary, dir, "--keys", keys, "--db", filepath.Join(dir, "memory.db"))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/api/v1/runs/stream", strings.NewReader(`{"tool":"slow"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	begun := make([]byte, len("event: log"))
	if _, err := io.ReadFull(response.Body, begun); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(response.Body)
	if err != nil || !bytes.Contains(rest, []byte("event: result")) || !bytes.Contains(rest, []byte(`"output":"done"`)) {
		t.Errorf("the running tool returned %s, %v\n%s", rest, err, s.stderr)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("the service ended with %v\n%s", err, s.stderr)
	}
}
