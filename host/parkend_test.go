package host_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/model/modeltest"
)

// TestRetryOfWaitingRun repeats a run with its idempotency key while the first run waits for a
// model. The retry must wait for the Result of the first run, even if this takes longer than the
// retry's time limit and than the lease of a fair lock. The retry must send no request to the model.
func TestRetryOfWaitingRun(t *testing.T) { everywhere(t, testRetryOfWaitingRun) }

func testRetryOfWaitingRun(t *testing.T) {
	h, server := openLimited(t, ask+`return (await ask("hello")).text`, "timeout: 1s")
	release := server.Hold()
	defer release()
	inv := host.Invocation{Tool: "tool", Key: "once", Caller: host.Caller{User: "ann"}}
	first := started(h, inv)
	if err := server.Await(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	second := started(h, inv)
	ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
	defer cancel()
	_, err := h.Run(ctx, inv)
	if !errors.Is(err, abi.Conflict) || !strings.Contains(err.Error(), "has not ended") {
		t.Errorf("a retry during the first run = %v; want conflict", err)
	}
	release()
	was, err := first()
	if err != nil {
		t.Fatal(err)
	}
	if is, err := second(); err != nil || !is.Repeated || is.RunID != was.RunID {
		t.Errorf("the retry = %+v, %v; want the Result of the first run", is, err)
	}
	if n := len(server.Requests()); n != 1 {
		t.Errorf("the provider received %d requests; want 1", n)
	}
}

// In TestRetryAfterFailure, a retry waits for the first run, and then the first run fails. The
// retry must then execute the tool, and its waiting time must not count toward its time limit.
func TestRetryAfterFailure(t *testing.T) {
	h, server := openLimited(t, ask+`return (await ask("hello")).text`, "timeout: 300ms", inProcess)
	server.Script(modeltest.Reply{Status: 400})
	release := server.Hold()
	defer release()
	inv := host.Invocation{Tool: "tool", Key: "once", Caller: host.Caller{User: "ann"}}
	first := started(h, inv)
	if err := server.Await(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	queued := make(chan struct{}, 1)
	inv.OnState = func(_ string, state host.RunState) {
		if state == host.RunQueued {
			select {
			case queued <- struct{}{}:
			default:
			}
		}
	}
	second := started(h, inv)
	<-queued
	release()
	if _, err := first(); err == nil {
		t.Error("the first run succeeded; want the fault of the model")
	}
	if result, err := second(); err != nil || result.Repeated {
		t.Errorf("the retry = %+v, %v; want a run of its own", result, err)
	}
}

// TestCloseEndsWaitingRuns closes a host while a run and a turn wait for a model.
func TestCloseEndsWaitingRuns(t *testing.T) { everywhere(t, testCloseEndsWaitingRuns) }

func testCloseEndsWaitingRuns(t *testing.T) {
	h, server := openModelTool(t, ask+`try { await ask("hello") } catch (e) { return "caught " + e.code }`)
	release := server.Hold()
	defer release()
	wait := started(h, host.Invocation{})
	if err := server.Await(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := wait(); !errors.Is(err, abi.Unavailable) || !strings.Contains(err.Error(), "closed") {
		t.Errorf("the waiting run = %v; want unavailable", err)
	}
}

// TestCloseEndsWaitingTurns closes a host while a tool of an agent waits for a model. The agent
// must not be able to handle the fault, and its changes must not be stored.
func TestCloseEndsWaitingTurns(t *testing.T) {
	server := modeltest.Start()
	defer server.Close()
	files := deskFiles()
	app := string(files["app.yaml"].Data)
	files["app.yaml"].Data = []byte(strings.Replace(app, "limits: {timeout: 100ms}", "models: [local], limits: {timeout: 100ms}", 1))
	files["slow.js"].Data = []byte(ask + `return (await ask("hello")).text`)
	h := openDeskFiles(t, files, inProcess, func(o *host.Options) { o.Models = modelSet(t, server, "") })
	release := server.Hold()
	defer release()
	failed := make(chan error, 1)
	go func() {
		message := "slow"
		_, err := h.Agents().Turn(context.Background(), host.Turn{Caller: annInS1, Message: &message})
		failed <- err
	}()
	if err := server.Await(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; !errors.Is(err, abi.Unavailable) {
		t.Errorf("the waiting turn = %v; want unavailable", err)
	}
}
