package cli

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/sdk/client"
)

// runRemote runs an app's tool on a server. If the tool is a local file, runRemote sends the code
// in the file to the server.
func (rc runCommand) runRemote(ctx context.Context, f *runFlags, inv host.Invocation, tool string, pairs []string) error {
	sent := isFile(rc.env, tool)
	switch {
	case sent:
		var err error
		if inv.Code, inv.Tool, err = codeOf(rc.env, tool, f.grants); err != nil {
			return err
		}
	case len(f.grants) > 0:
		return grantOfName(tool, "the app file of the server")
	default:
		inv.Tool = tool
	}
	c, err := rc.apps.client(&f.serverFlags, f.app)
	if err != nil {
		return err
	}
	runs, closed := f.approving(rc.out, remoteRuns{c, rc.env}, remoteApprovals{c})
	defer closed()
	err = explainServer(rc.runAndPrint(ctx, runs, inv, ".", f))
	if fault, ok := err.(*abi.Fault); ok && sent {
		err = sentFault(ctx, c, fault, inv, tool)
	}
	return adviseTexts(err, pairs, func() bool { return !sent && declaresInput(ctx, c, tool) })
}

// declaresInput reports whether a tool of the app has an input schema. If the server does not
// answer, declaresInput returns true.
func declaresInput(ctx context.Context, c *client.Client, tool string) bool {
	tools, err := c.Tools(ctx)
	at := slices.IndexFunc(tools, func(t apitypes.Tool) bool { return t.Name == tool })
	return err != nil || at < 0 || len(tools[at].InputSchema) > 0
}

// codeLanguage determines the language of ad-hoc code from the extension of the file.
func codeLanguage(written string) (string, error) {
	var titles []string
	for _, l := range engine.Languages(engines.Infos()) {
		if slices.Contains(l.Extensions, filepath.Ext(written)) {
			return l.Name, nil
		}
		titles = append(titles, l.Title)
	}
	last := len(titles) - 1
	known := strings.Join(titles[:last], ", ") + " or " + titles[last]
	return "", usagef("deploy the tool with the app", "cannot send %s to a server: only a single file of %s is accepted", written, known)
}

// codeOf reads a source file and returns its name and its code. The code is sent as ad-hoc code.
func codeOf(env Env, written string, grants []string) (*host.AdHocTool, string, error) {
	language, err := codeLanguage(written)
	if err != nil {
		return nil, "", err
	}
	allowed, err := parseGrants(grants, func(string) error { return nil })
	if err != nil {
		return nil, "", err
	}
	text, err := env.readFile("the tool", written)
	if err != nil {
		return nil, "", err
	}
	name := strings.TrimSuffix(filepath.Base(written), filepath.Ext(written))
	return &host.AdHocTool{Language: language, Text: string(text), Grants: allowed}, cmp.Or(name, "code"), nil
}

// isFile reports whether the name of a tool is the path of a file. isFile is for commands that read
// no app file.
func isFile(env Env, written string) bool {
	return (&project{env: env, app: &app.App{}}).isPath(written)
}

// sentFault adapts the fault of ad-hoc code. The locations in the result refer to the local source
// file. If grants are missing, sentFault adds a hint.
func sentFault(ctx context.Context, c *client.Client, f *abi.Fault, inv host.Invocation, written string) *abi.Fault {
	const stem = "code." // the prefix that hosts add to the file name of ad-hoc code
	shown := *f
	if strings.HasPrefix(f.File, stem) {
		shown.File = written
	}
	shown.Stack = framePlace().ReplaceAllStringFunc(f.Stack, func(line string) string {
		part := framePlace().FindStringSubmatch(line)
		if strings.HasPrefix(part[2], stem) {
			part[2] = written
		}
		return part[1] + part[2] + part[3]
	})
	if f.Op == "" {
		return &shown
	}
	pr := &project{app: &app.App{Tools: []app.Tool{{Tool: declare.Tool{Name: inv.Tool, Grants: inv.Code.Grants}}}}}
	names, _ := storeNames(ctx, c) // if the server does not answer, the error has no hint
	for _, name := range names {
		pr.app.Stores = append(pr.app.Stores, declare.Store{Name: name})
	}
	return pr.grantHint(inv.Tool, &shown)
}
