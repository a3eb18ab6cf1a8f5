package cli

import (
	"errors"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
)

// movedFault returns the fault of an app that cannot be opened because the access or the kind of a store changed. The flags
// are those with which a command finds the same app and database.
func movedFault(moved *memory.ScopeChangedError, flags string) *abi.Fault {
	f := abi.Faultf(abi.SourceInvalid, "the store %q has %s, but is now declared with %q", moved.Store, moved.Held(), moved.Declared())
	return f.WithHint("%s", movedHint(moved.Store, flags))
}

// movedHint lists the choices. The last one is a command that works as it is printed.
func movedHint(store, flags string) string {
	return "restore the declaration, give the new store another name, or remove the records: " + purgeCommand(store, flags)
}

func purgeCommand(store, flags string) string {
	return "toolrun memory purge " + store + " --yes" + flags
}

// adviseMoved completes the hint of an error about a changed scope with the flags of the command.
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

// flagText returns a flag as shell text, or "" if it has no value.
func flagText(name, value string) string {
	if value == "" {
		return ""
	}
	return " --" + name + " " + shellWord(value)
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=,-]+$`)

// shellWord quotes a word for a shell if it has to be quoted.
func shellWord(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
