package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// movedFault returns the fault for an app that cannot be opened, because the access or the kind of
// a store, or the scope of a fact, has changed. The argument "flags" contains the flags of the
// failed command that specify the app and the database.
func movedFault(moved *memory.ScopeChangedError, flags string) *abi.Fault {
	f := abi.Faultf(abi.SourceInvalid, "%s has %s but is now declared with %q", moved.What(), moved.Held(), moved.Declared())
	if moved.Item != "" {
		return f.WithHint("restore the scope and delete the values with `toolrun fact delete`, or declare another path")
	}
	return f.WithHint("%s", movedHint(moved.Store, flags))
}

// movedHint returns a hint that lists what the user can do. The hint ends with a shell command that
// the user can copy.
func movedHint(store, flags string) string {
	return "restore the declaration, rename the new store, or remove the records with: " + purgeCommand(store, flags)
}

func purgeCommand(store, flags string) string {
	return "toolrun memory purge " + store + " --yes" + flags
}

// adviseMoved adds the flags of the failed command to the hint of an error about a changed scope.
func adviseMoved(cmd *cobra.Command, err error) error {
	moved, ok := errors.AsType[*memory.ScopeChangedError](err)
	if !ok {
		return err
	}
	return movedFault(moved, usedFlags(cmd, "app", "db", "tenant"))
}

// usedFlags formats the named flags as text for a shell. Flags that the user has not set are
// omitted.
func usedFlags(cmd *cobra.Command, names ...string) (text string) {
	for _, name := range names {
		switch f := cmd.Flags().Lookup(name); {
		case f == nil || !f.Changed:
		case f.Value.Type() == "bool":
			text += " --" + name + "=" + f.Value.String()
		default:
			text += flagText(name, f.Value.String())
		}
	}
	return text
}

// flagText formats a flag as text for a shell. If the flag has no value, flagText returns "".
func flagText(name, value string) string {
	if value == "" {
		return ""
	}
	return " --" + name + " " + shellWord(value)
}

var plainWord = lazyregexp.New(`^[A-Za-z0-9_./:@%+=,-]+$`)

// shellWord quotes a word for a shell if quoting is necessary.
func shellWord(word string) string {
	if plainWord().MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
