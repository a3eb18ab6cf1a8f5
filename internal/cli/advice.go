package cli

import (
	"errors"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
)

// movedFault is the fault of an app that cannot be opened because a store's access or kind changed. The flags are those that a command
// needs to find the same app and database.
func movedFault(moved *memory.ScopeChangedError, flags string) *abi.Fault {
	f := abi.Faultf(abi.SourceInvalid, "the store %q has %s and is now declared with %q", moved.Store, moved.Held(), moved.Declared())
	return f.WithHint("%s", movedHint(moved.Store, flags))
}

// movedHint names the choices, the last as a command that works as it is printed.
func movedHint(store, flags string) string {
	return "declare it as it was, give the new store another name, or remove the records: " + purgeCommand(store, flags)
}

func purgeCommand(store, flags string) string {
	return "toolrun memory purge " + store + " --yes" + flags
}

// adviseMoved makes the error of a command about a changed access say how to go on with what the command was about.
func adviseMoved(cmd *cobra.Command, err error) error {
	moved, ok := errors.AsType[*memory.ScopeChangedError](err)
	if !ok {
		return err
	}
	flags := ""
	for _, name := range []string{"app", "db", "tenant"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			flags += flagText(name, f.Value.String())
		}
	}
	return movedFault(moved, flags)
}

// flagText writes a flag for a shell; nothing for one without a value.
func flagText(name, value string) string {
	if value == "" {
		return ""
	}
	return " --" + name + " " + shellWord(value)
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=,-]+$`)

// shellWord writes a word for a shell.
func shellWord(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
