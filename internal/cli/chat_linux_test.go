package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// savedFiles matches the files that a reader of a documentation page has to save.
var savedFiles = regexp.MustCompile("(?m)^<!-- file: (.+) -->\n\n?```\\w*\n((?s:.*?))^```$")

// tutorial saves the files of the tutorial about agents in a new folder, and returns the folder.
func tutorial(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "docs", "tutorials", "agent.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, m := range savedFiles.FindAllStringSubmatch(string(page), -1) {
		saveFile(t, dir, m[1], m[2])
	}
	return dir
}

func saveFile(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const (
	upKey   = "\x1b[A"
	ctrlC   = "\x03"
	ctrlD   = "\x04"
	enter   = "\r"
	chatArg = "chat Tea_Shop --user ann --session s1 --inprocess"
)

// The test uses a terminal to repeat the conversation of the tutorial.
func TestChatInTerminal(t *testing.T) {
	x := startInTerminal(t, 80, tutorial(t), strings.Fields(chatArg)...)
	x.expect("Which tea would you like?\r\n")
	x.press("coffee" + ctrlC + "green" + enter) // Ctrl-C clears the line
	x.expect("How many bags?\r\n")
	x.press("/state" + enter)
	x.expect("session s1, agent Tea_Shop, step ask, collecting amount\r\n")
	x.expect("green")
	x.press(upKey + upKey + enter) // the history contains /state and green
	x.expect("Please enter a number")
	x.press("3" + enter)
	x.expect("3 bags of green tea")
	x.press("/facts" + enter)
	x.expect("user.favorite_tea")
	x.press("/trace" + enter)
	x.expect("trigger")
	x.press("/stat" + enter)
	x.expect("did you mean /state?")
	x.press(ctrlD)
	x.expect("continue with --session s1")
	if exit := x.end(); exit != 0 {
		t.Errorf("the chat ends with exit code %d; want 0", exit)
	}
}

// A second Ctrl-C on an empty line ends the chat.
func TestChatEndsAfterTwoInterrupts(t *testing.T) {
	x := startInTerminal(t, 80, tutorial(t), strings.Fields(chatArg)...)
	x.expect("Which tea would you like?\r\n")
	x.press(ctrlC)
	x.expect("press Ctrl-C again or type /quit")
	x.press(ctrlC)
	if exit := x.end(); exit != 0 {
		t.Errorf("the chat ends with exit code %d; want 0", exit)
	}
}

// Ctrl-C during a turn cancels the turn, and the chat continues.
func TestChatCancelsTurn(t *testing.T) {
	dir := tutorial(t)
	tool := filepath.Join(dir, "order_tea.js")
	if err := os.WriteFile(tool, []byte(`for (;;) {}`), 0o600); err != nil {
		t.Fatal(err)
	}
	x := startInTerminal(t, 80, dir, strings.Fields(chatArg)...)
	x.expect("Which tea would you like?\r\n")
	x.press("green" + enter)
	x.expect("How many bags?\r\n")
	x.press("3" + enter)
	x.expect("waiting for Tea_Shop ... 1 s")
	x.press(ctrlC)
	x.expect("cancelled: ")
	x.press("/state" + enter)
	x.expect("collecting amount")
	x.press("/quit" + enter)
	if exit := x.end(); exit != 0 {
		t.Errorf("the chat ends with exit code %d; want 0", exit)
	}
}

// If a line is longer than the width of the terminal, the line must wrap at the current width.
func TestChatFollowsResize(t *testing.T) {
	x := startInTerminal(t, 80, tutorial(t), strings.Fields(chatArg)...)
	x.expect("Which tea would you like?\r\n")
	x.resize(20)
	x.press("0123456789012345678901234567890123456789")
	x.expect("012345678901234567\r\n89012345678901234567\r\n89") // the prompt has two characters
	x.press(ctrlC + "/quit" + enter)
	if exit := x.end(); exit != 0 {
		t.Errorf("the chat ends with exit code %d; want 0", exit)
	}
}
