package cli

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/internal/spell"
	"github.com/toolrun/toolrun/sdk/client"
)

// chatCommands describes the commands that a user can type in a chat.
var chatCommands = []struct{ name, does string }{
	{"state", "show the step and the variables of the session"},
	{"facts", "show the stored facts of the user, of the session and of the app"},
	{"trace", "show what the last turn evaluated"},
	{"help", "show this list"},
	{"quit", "end the chat"},
}

// command executes a command that the user has typed in a chat.
func (c *chat) command(ctx context.Context, name string) error {
	switch name {
	case "state":
		return c.showState()
	case "facts":
		return c.showFacts(ctx)
	case "trace":
		return c.showTrace()
	case "help":
		return c.showHelp()
	case "quit":
		c.quit = true
		return nil
	}
	known := make([]string, len(chatCommands))
	for i, command := range chatCommands {
		known[i] = command.name
	}
	hint := "see /help; to send a message that starts with a slash, write two slashes"
	if near := spell.Name(name, known); near != "" {
		hint = "did you mean /" + near + "?"
	}
	return usagef(hint, "unknown command %q", "/"+name)
}

func (c *chat) showHelp() error {
	for _, command := range chatCommands {
		if err := c.out.say("/%-6s %s", command.name, command.does); err != nil {
			return err
		}
	}
	return nil
}

// showState prints the state of the session after the last turn.
func (c *chat) showState() error {
	if c.last == nil {
		return noTurn
	}
	state := "session " + c.last.Session + ", agent " + c.last.Agent
	if c.last.Step != nil {
		state += ", step " + *c.last.Step
	}
	if c.last.Collecting != nil {
		state += ", collecting " + *c.last.Collecting
	}
	if err := c.out.say("%s", state); err != nil || len(c.last.Variables) == 0 {
		return err
	}
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(c.last.Variables)) {
		value, err := json.Marshal(c.last.Variables[name])
		if err != nil {
			return err
		}
		rows = append(rows, []string{name, shortValue(value)})
	}
	return c.out.table([]string{"VARIABLE", "VALUE"}, rows)
}

// showFacts prints the stored facts that the caller can read.
func (c *chat) showFacts(ctx context.Context) error {
	facts, err := allPages(func(after string) ([]apitypes.Fact, string, error) {
		return c.app.facts.List(ctx, c.next.Caller, client.FactQuery{PageQuery: client.PageQuery{After: after, Limit: pageSize}})
	})
	if err != nil {
		return err
	}
	if len(facts) == 0 {
		return c.out.say("no facts are stored")
	}
	return c.out.table(factTable(facts))
}

// showTrace prints the elements that the last turn evaluated.
func (c *chat) showTrace() error {
	if c.last == nil {
		return noTurn
	}
	var rows [][]string
	for _, e := range c.last.Trace {
		rows = append(rows, []string{e.Kind, e.Name, e.Result, shortValue(e.Value), e.Position})
	}
	return c.out.table([]string{"KIND", "NAME", "RESULT", "VALUE", "POSITION"}, rows)
}

// noTurn is the error of a command that needs the result of a turn, if there was no turn yet.
var noTurn = abi.Faultf(abi.InvalidArgument, "the conversation has no turn yet")
