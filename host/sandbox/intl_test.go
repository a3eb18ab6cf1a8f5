//go:build linux

package sandbox_test

import (
	"context"
	"testing"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/sandbox"
)

// TestIntlInWorker checks that a worker can use locale data. The worker cannot open files, but the
// binary contains the data.
func TestIntlInWorker(t *testing.T) {
	const code = `return [
		new Date(0).toLocaleString('en-US', { timeZone: 'America/New_York' }),
		new Date(0).toLocaleString('de', { timeZone: 'Asia/Kolkata', dateStyle: 'full' }),
		(1234567.5).toLocaleString('fr', { style: 'currency', currency: 'EUR' }),
		Intl.DateTimeFormat().resolvedOptions().timeZone,
	]`
	js := newPool(t, sandbox.Options{}).Engines()[javaScript]
	program, err := js.Load(context.Background(), engine.Source{Path: "tool.js", Code: []byte(code)})
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	out, err := program.Run(context.Background(), engine.Input{Input: []byte(`{}`), Context: []byte(`{}`)}, engine.Host{})
	const want = "[\"12/31/1969, 7:00:00 PM\",\"Donnerstag, 1. Januar 1970\",\"1\u202f234\u202f567,50\u00a0€\",\"UTC\"]"
	if err != nil || string(out.Output) != want {
		t.Errorf("answer = %s, %v\n   want %s", out.Output, err, want)
	}
}
