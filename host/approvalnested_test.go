package host_test

import (
	"bytes"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
)

// A run of sleep-time memory cannot wait for an approval. If such a run reaches an effect that
// needs an approval, the run fails, stores nothing and requests no approval.
func TestGatedToolOfSleep(t *testing.T) {
	files := sleepFiles("tool: dream", `await memory.set_content("runs", {n: 1}); return {proposals: []}`)
	gatedDream := *files["app.yaml"]
	gatedDream.Data = bytes.Replace(gatedDream.Data, []byte("grants: {runs: readwrite}"), []byte("grants: {runs: readwrite}, approval: {before: [set_content], by: user}"), 1)
	files["app.yaml"] = &gatedDream
	s := openSleeper(t, files)
	s.say(annInS1, "one")
	s.settle()
	s.wantPass(host.SleepPass{Runs: 1, Failed: 1})
	if got := content(t, s.Host, ann, abi.GetContent, "runs"); got != "null" {
		t.Errorf("the failed run has stored %s", got)
	}
	if found, _, err := s.Approvals().List(t.Context(), approver, true, ""); err != nil || len(found) > 0 {
		t.Errorf("List = %+v, %v; want no request", found, err)
	}
}
