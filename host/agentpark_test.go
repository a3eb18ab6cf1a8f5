package host_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/model/modeltest"
)

// TestTurnParks executes an agent whose tool waits for a model. While the tool waits, the turn must
// be parked. The waiting time does not count toward the tool's time limit. If the tool reaches its
// deadline, the tool fails, but the turn continues.
func TestTurnParks(t *testing.T) {
	server := modeltest.Start()
	defer server.Close()
	gate, with := newGate(t, admission.Limits{Running: 1})
	files := deskFiles()
	app := files["app.yaml"]
	app.Data = bytes.Replace(app.Data, []byte("limits: {timeout: 100ms}"), []byte("models: [local], limits: {timeout: 100ms, deadline: 400ms}"), 1)
	files["slow.js"].Data = []byte(ask + `return (await ask("hello")).text`)
	h := openDeskFiles(t, files, with, inProcess, func(o *host.Options) { o.Models = modelSet(t, server, "") })
	server.Script(modeltest.Reply{Delay: 200 * time.Millisecond, Text: "late"})
	result := say(t, h, annInS1, "slow")
	if got := strings.Join(result.Messages, " "); !strings.Contains(got, "slow: late") || result.Usage.Model.Calls != 1 {
		t.Errorf("the turn says %q, with %d calls; want the late answer", got, result.Usage.Model.Calls)
	}
	release := server.Hold()
	defer release()
	result = say(t, h, annInS1, "slow")
	if got := strings.Join(result.Messages, " "); !strings.Contains(got, "slow failed: timeout") {
		t.Errorf("the turn says %q; want a timeout of the tool", got)
	}
	if n := gate.Parked(); n != 0 {
		t.Errorf("%d turns are parked after the end; want 0", n)
	}
	for range 2 {
		say(t, h, annInS1, "bump") // this run needs the gate's only slot
	}
}
