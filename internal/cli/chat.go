package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/report"
)

func (tc turnCommands) chat() *cobra.Command {
	var f turnFlags
	cmd := &cobra.Command{
		Use:   "chat AGENT",
		Short: "Talk to an agent line by line",
		Long: `Talk to an agent: each line of input is a message. The line /help lists the commands. On a terminal,
lines can be edited, the arrow keys recall earlier lines, and Ctrl-C clears the line or cancels a turn. Ctrl-D or
/quit ends the chat.

If stdin is not a terminal, each of its lines is a message or a command, and the first turn that fails ends the chat.
With --json, each line of input is a message, and each line of output is the result of a turn as JSON.

Without --session, a new session begins. On a terminal, the chat prints the id of the session at the end. With this id
as --session, the conversation can be continued later.`,
		Example: `  toolrun chat Hotel_Booking --user ann
  toolrun chat Hotel_Booking --user ann --session s1 --json < messages.txt`,
		Args: takes(1, 1, "the name of an AGENT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := tc.request(cmd, &f, args[0])
			if err != nil {
				return err
			}
			t.OnLog = nil // printed after the turn
			return tc.with(cmd, &f, func(opened *openedApp, folder codeFolder) error {
				c := &chat{out: tc.out, app: opened, next: t, folder: folder}
				return c.converse(cmd.Context())
			})
		},
	}
	f.registerConversation(cmd)
	cmd.ValidArgsFunction = tc.projects.completeArg(&f.app, (*project).agentNames)
	return cmd
}

// chat is the state of a conversation with an agent.
type chat struct {
	out    *console
	app    *openedApp
	folder codeFolder
	in     lineReader
	// The field "next" contains the settings of the next turn, without a message.
	next host.Turn
	// The field "last" is the result of the last turn, or nil before the first turn.
	last *report.Turn
	// quit is true if the user wants to end the chat.
	quit bool
}

// lineReader reads lines of input.
type lineReader interface {
	// ReadLine returns the next line. If the user presses Ctrl-C, the error is errInterrupted. At
	// the end of the input, the error is io.EOF.
	ReadLine(context.Context) (string, error)
	// during calls the function "work". If the user presses Ctrl-C, the context of "work" is
	// cancelled.
	during(ctx context.Context, work func(context.Context))
	io.Closer
}

var errInterrupted = errors.New("interrupted")

// converse reads messages and performs turns until the input ends.
func (c *chat) converse(ctx context.Context) (err error) {
	if err := mustAgent(ctx, c.app.agents, c.next.Agent); err != nil {
		return err
	}
	if c.in, err = c.openInput(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.in.Close()) }()
	if err := c.perform(ctx, nil); err != nil {
		return err
	}
	interrupts := 0
	for !c.quit {
		line, err := c.in.ReadLine(ctx)
		switch {
		case errors.Is(err, errInterrupted):
			if interrupts++; interrupts == 2 {
				c.quit = true
			} else {
				c.out.note(dim, "note: ", "to leave, press Ctrl-C again or type /quit")
			}
			continue
		case err == io.EOF:
			c.quit = true
		case err != nil:
			return err
		}
		interrupts = 0
		if err := c.take(ctx, strings.TrimSpace(line)); err != nil {
			return err
		}
	}
	if c.next.Caller.Session != "" && c.interactive() {
		c.out.note(dim, "note: ", "continue with --session "+c.next.Caller.Session)
	}
	return nil
}

// openInput opens the editor if the input is a terminal. If the input is not a terminal, openInput
// opens a reader of lines.
func (c *chat) openInput(ctx context.Context) (lineReader, error) {
	stdin, ok := c.out.env.Stdin.(*os.File)
	if ok && IsTerminal(stdin) && c.out.env.StdoutTerminal && !c.out.json {
		return openEditor(ctx, c.out, stdin)
	}
	return newLineScanner(c.out.env.Stdin), nil
}

// interactive reports whether a person types the lines.
func (c *chat) interactive() bool {
	_, is := c.in.(*lineEditor)
	return is
}

// take handles a line of input. A line is either a command or a message for the agent.
func (c *chat) take(ctx context.Context, line string) error {
	if line == "" {
		return nil
	}
	if command, ok := strings.CutPrefix(line, "/"); ok && !c.out.json {
		if message, ok := strings.CutPrefix(command, "/"); ok { // "//" begins a message with "/"
			line = "/" + message
		} else {
			return c.tolerate(c.command(ctx, command))
		}
	}
	return c.tolerate(c.perform(ctx, &line))
}

// tolerate only prints the error if a person uses the chat, because the person can continue.
// Otherwise, tolerate returns the error.
func (c *chat) tolerate(err error) error {
	if err == nil || !c.interactive() {
		return err
	}
	c.out.printFault(c.folder.fault(faultOf(explainServer(err))), true)
	return nil
}

// perform performs a turn with a message and prints the result of the turn.
func (c *chat) perform(ctx context.Context, message *string) (err error) {
	t := c.next
	t.Message = message
	var result *report.Turn
	turn := func(ctx context.Context) { result, err = c.app.agents.Turn(ctx, t) }
	_ = c.out.progress("waiting for "+t.Agent, func() error { // err contains the error of the turn
		c.in.during(ctx, turn)
		return nil
	})
	if result == nil {
		return err
	}
	if result.OK { // if the turn has failed, there may be no session
		c.last = result
		c.next.Caller.Session, c.next.Metadata = result.Session, nil
	}
	if c.out.json {
		return errors.Join(c.printLine(result), err)
	}
	log := runCommand{baseCommand{out: c.out}}.logLine()
	for _, line := range result.Logs {
		log(1, line)
	}
	if shown := c.out.showTurn(result, t.Agent); shown != nil {
		return shown
	}
	if result.OK && result.Agent != "" {
		c.next.Agent = result.Agent
	}
	return err
}

// printLine prints a result as one line of JSON.
func (c *chat) printLine(result *report.Turn) error {
	c.out.answered = true
	enc := json.NewEncoder(c.out.env.Stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(result)
}
