package cli_test

import (
	"strings"
	"testing"

	"github.com/toolrun/toolrun/internal/cli"
)

// gatedShop saves the files of an app. The app's tool writes twice, and each write requires an
// approval.
func gatedShop(t *testing.T) string {
	return folder(t, map[string]string{
		"app.yaml": "app: shop\nmemory:\n  orders: {access: user, description: d}\n  bills: {access: user, description: d}\n" +
			"tools:\n  order: {source: order.js, description: d, grants: {orders: readwrite, bills: readwrite}, approval: {before: [set_content]}}\n",
		"order.js": `await memory.set_content("orders", {item: "tea"}); await memory.set_content("bills", {item: "tea"}); return "ordered"`,
	})
}

const question = "approve? [y/n, Enter to decide later] "

// TestApproveInTerminal uses a terminal to approve or deny each effect of a run, as a person would.
func TestApproveInTerminal(t *testing.T) {
	for _, test := range []struct {
		name, second, want string
		exit               int
		waits              bool
	}{
		{"approved", "y", "\"ordered\"", 0, false},
		{"denied", "n", "access_denied: the effect set_content was denied: denied at the terminal", 1, false},
		{"later", "", "access_denied: set_content requires an approval; the run is paused until", 1, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := gatedShop(t)
			x := startInTerminal(t, 200, dir, "run", "order", "--user", "ann", "--approve", "--inprocess")
			if shown := x.expect(question); !strings.Contains(shown, "set_content requires an approval") || !strings.Contains(shown, `"orders"`) {
				t.Errorf("the terminal shows %q; want the first effect", shown)
			}
			x.press("Y" + enter)
			if shown := x.expect(question); !strings.Contains(shown, `"bills"`) {
				t.Errorf("the terminal shows %q; want the second effect", shown)
			}
			x.press(test.second + enter)
			x.expect(test.want)
			if exit := x.end(); exit != test.exit {
				t.Errorf("the exit code is %d; want %d", exit, test.exit)
			}
			_, listed, _ := call(t, cli.Env{Args: []string{"approval", "list", "--json"}, Dir: dir})
			if waits := strings.Contains(listed, "bills"); waits != test.waits {
				t.Errorf("the list of approvals is %s; want a pending one: %t", listed, test.waits)
			}
			_, stored, _ := call(t, cli.Env{Args: []string{"memory", "get", "orders", "--user", "ann"}, Dir: dir})
			if want := test.exit == 0; strings.Contains(stored, "tea") != want {
				t.Errorf("stored: %t; want %t", !want, want)
			}
		})
	}
}

// If a run names its tool by a path, its effects can be approved only in the terminal. If the
// person gives no answer, the effect is denied.
func TestApproveToolByPath(t *testing.T) {
	for answer, want := range map[string]string{"y": `"id"`, "": "was denied"} {
		dir := folder(t, map[string]string{
			"app.yaml": "app: shop\nmemory:\n  kb: {kind: collection, access: user, description: d}\n",
			"note.machine": "machine note\n  ensures\n    permissions\n      allowed to memory\n      requires approval for remember\n" +
				"  implements\n    remember entry\n      content: \"tea\"\n      collection: \"kb\"\n",
		})
		x := startInTerminal(t, 200, dir, "run", "./note.machine", "--grant", "kb=readwrite", "--user", "ann", "--approve", "--inprocess")
		if shown := x.expect("approve? [y/N] "); !strings.Contains(shown, "remember in the step entry (note.machine:7) requires an approval") {
			t.Errorf("the terminal shows %q; want the effect", shown)
		}
		x.press(answer + enter)
		x.expect(want)
		x.end()
	}
}

// The flag --approve requires a terminal. The flag cannot be used if the run stores nothing.
func TestApproveWithoutTerminal(t *testing.T) {
	dir := gatedShop(t)
	for _, test := range []struct{ flag, want string }{
		{"--json", "error: --approve asks a person and requires a terminal"},
		{"--dry-run", "error: --approve cannot be combined with a dry run"},
	} {
		exit, _, stderr := call(t, cli.Env{Args: []string{"run", "order", "--user", "ann", "--approve", "--inprocess", test.flag}, Dir: dir, Stdin: strings.NewReader("y\n")})
		if exit != 2 || !strings.Contains(stderr, test.want) {
			t.Errorf("the command ended in %d and wrote %q; want %q", exit, stderr, test.want)
		}
	}
}
