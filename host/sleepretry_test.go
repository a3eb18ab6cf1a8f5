package host_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/model/modeltest"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// TestSleepRetryNow checks that a failed run is repeated immediately if an operator requests this.
// The operator's request must not make a conversation due that has not settled, or a failed run of
// another tenant.
func TestSleepRetryNow(t *testing.T) {
	s, server := openDreamer(t, "", func(o *host.Options) { o.Tenants = []string{"default", "other"} })
	s.say(annInS1, "one")
	s.say(host.Caller{Tenant: "other", User: "eve", Session: "s9"}, "one")
	s.settle()
	for range 2 {
		server.Script(modeltest.Reply{Text: "not JSON"})
	}
	s.wantPass(host.SleepPass{Runs: 2, Failed: 2})
	s.say(host.Caller{User: "bob", Session: "s2"}, "two")
	s.wantPass(host.SleepPass{})
	if err := s.Sleep().Retry(t.Context(), host.Caller{}); err != nil {
		t.Fatal(err)
	}
	if status, err := s.Sleep().Status(t.Context(), host.Caller{}); err != nil || status.Due != 1 || status.Failed != 1 || status.Waiting != 1 {
		t.Errorf("Status = %+v, %v; want one due conversation with a failed run, and one that waits", status, err)
	}
	server.Script(proposals([3]string{"archival", "user", "- done"}))
	s.wantPass(oneRun)
	s.wantBlock(annAndEcho, "archival", false, "- done")
	s.clock.advance(time.Minute)
	server.Script(proposals())
	s.wantPass(oneRun) // of the other tenant
}

// Runs that failed before an operator's retry must not count, so the messages must be kept for 10
// more runs.
func TestSleepRetryCounts(t *testing.T) {
	s, server := openDreamer(t, "")
	s.say(annInS1, "one")
	s.settle()
	for range 12 {
		server.Script(modeltest.Reply{Text: "not JSON"})
		s.wantPass(host.SleepPass{Runs: 1, Failed: 1})
		if err := s.Sleep().Retry(t.Context(), host.Caller{}); err != nil {
			t.Fatal(err)
		}
	}
	server.Script(proposals([3]string{"archival", "user", "- done"}))
	s.wantPass(oneRun)
	s.wantBlock(annAndEcho, "archival", false, "- done")
}

// TestSleepRetryInProgress checks that an operator's retry does not start a run again while the run
// is in progress.
func TestSleepRetryInProgress(t *testing.T) {
	s, server := openDreamer(t, "")
	s.say(annInS1, "one")
	s.settle()
	server.Script(modeltest.Reply{Text: "not JSON"})
	s.wantPass(host.SleepPass{Runs: 1, Failed: 1})
	s.clock.advance(time.Minute)
	server.Script(proposals([3]string{"archival", "user", "- once"}))
	release := server.Hold()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := s.Sleep().RunDue(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	if err := server.Await(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	if err := s.Sleep().Retry(t.Context(), host.Caller{}); err != nil {
		t.Fatal(err)
	}
	s.wantPass(host.SleepPass{})
	release()
	<-done
	s.wantBlock(annAndEcho, "archival", false, "- once")
	if n := len(server.Requests()); n != 2 {
		t.Errorf("the model received %d requests; want 2", n)
	}
}

// TestSleepKeyAfterExpiry processes two conversations of a session. Both conversations have the
// same messages. The transcript of the first conversation expires before it is processed. The
// requests to the model must have different idempotency keys. If the keys were equal, the answer
// for the first conversation would also be used for the second conversation.
func TestSleepKeyAfterExpiry(t *testing.T) {
	server := modeltest.Start()
	t.Cleanup(server.Close)
	files := sleepFiles("model: local", "return null")
	files["app.yaml"].Data = append(files["app.yaml"].Data, "session_idle: 30d\n"...)
	s := openSleeper(t, files, func(o *host.Options) { o.Models = modelSet(t, server, "") })
	s.say(annInS1, "one")
	s.settle()
	server.Script(proposals([3]string{"archival", "user", "- " + strings.Repeat("x", 9000)}), modeltest.Reply{Text: "not JSON"})
	s.wantPass(host.SleepPass{Runs: 1, Failed: 1})
	s.clock.advance(48 * time.Hour)
	s.wantPass(host.SleepPass{})
	s.say(annInS1, "one")
	s.settle()
	server.Script(proposals([3]string{"archival", "user", "- two"}))
	s.wantPass(oneRun)
	s.wantBlock(annAndEcho, "archival", false, "- two")
	if keys := server.Keys(); len(keys) != 3 {
		t.Errorf("the requests have the idempotency keys %v; want 3", keys)
	}
}

// TestSleepRoundsOfReopenedHosts closes the host after each pass. The hosts share their
// SleepRounds. Therefore users with many conversations must not delay another user.
func TestSleepRoundsOfReopenedHosts(t *testing.T) {
	backend, clock, rounds := mem.New(), newTestClock(), &host.SleepRounds{}
	open := func(t *testing.T) *sleeper {
		h := openApp(t, sleepFiles("tool: dream", `return [{block: "archival", scope: "user", content: "- seen"}]`), func(o *host.Options) {
			o.Backend, o.Now, o.SleepRounds = backend, clock.now, rounds
		})
		return &sleeper{t, h, clock}
	}
	messages := []host.Message{{Role: "user", Content: "x"}}
	t.Run("fill", func(t *testing.T) {
		s := open(t)
		for i := range 8 * 5 {
			c := host.Caller{User: fmt.Sprint("flood", i%8), Session: fmt.Sprint("s", i)}
			if _, err := s.Sessions().AddMessages(t.Context(), c, messages); err != nil {
				t.Fatal(err)
			}
		}
		clock.advance(time.Second)
		if _, err := s.Sessions().AddMessages(t.Context(), host.Caller{User: "bob", Session: "bob"}, messages); err != nil {
			t.Fatal(err)
		}
	})
	clock.advance(time.Hour)
	for pass := range 2 {
		t.Run(fmt.Sprint("pass", pass), func(t *testing.T) { open(t).wantPass(host.SleepPass{Runs: 8}) })
	}
	t.Run("bob", func(t *testing.T) {
		s := open(t)
		s.wantBlock(host.Caller{User: "bob"}, "archival", false, "- seen") // in the second pass
	})
}
