package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/machine"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/internal/spell"
)

// target finds the tool that a command names and returns the tool's name in the app. If the tool is
// named by its path, this tool replaces the declared tools of the app.
func (rc runCommand) target(pr *project, written string, grants []string) (string, error) {
	if !pr.isPath(written) {
		if len(grants) > 0 {
			return "", grantOfName(written, pr.shown())
		}
		return written, pr.mustTool(written)
	}
	allowed, err := parseGrants(grants, pr.mustGrantable)
	if err != nil {
		return "", err
	}
	tool, root, err := readTool(rc.env, written)
	if err != nil {
		return "", err
	}
	if len(tool.Grants) > 0 && len(grants) == 0 {
		place := app.ManifestName
		if path.Ext(tool.Source) == machine.Extension {
			place = "steps"
		}
		rc.out.warn("the tool %s declares grants in its %s, but no flag --grant allows these grants", written, place)
	}
	tool.Grants = allowed
	pr.roots, pr.files = append(pr.roots, root), root.Name()
	pr.app = &app.App{
		ID: pr.app.ID, SessionIdle: pr.app.SessionIdle, WorkflowIdle: pr.app.WorkflowIdle, Stores: pr.app.Stores, AutoCollections: pr.app.AutoCollections, Facts: pr.app.Facts, Blocks: pr.app.Blocks,
		Tools: []app.Tool{*tool}, Files: root.FS(),
	}
	return tool.Name, nil
}

// mustGrantable returns an error if a grant is for neither a store nor facts of the app.
func (pr *project) mustGrantable(name string) error {
	g := declare.GrantOn(name)
	if pr.app.CanGrant(name) && g.CheckPattern() == nil {
		return nil
	}
	if g.Store != declare.Facts {
		return pr.mustStore(name, declare.SessionMeta)
	}
	if pr.app.Facts == nil {
		return usagef("declare facts in the app file, such as `facts: {user.language: {type: string}}`", "--grant %s: the app declares no facts", name)
	}
	if err := g.CheckItem(); err != nil {
		return usagef("", "--grant %s: %v", name, err)
	}
	return nil
}

func grantOfName(tool, place string) error {
	return usagef("change the tool's grants in "+place, "--grant applies only to tools given by path, but %q is a name", tool)
}

// pathHint adds a hint to the fault of a tool that is named by its path. The hint names a missing
// grant or store declaration.
func (pr *project) pathHint(tool string, f *abi.Fault) *abi.Fault {
	op, known := memory.Operations().Lookup(f.Op)
	declared := append(pr.storeNames(), declare.SessionMeta)
	if !known || f.Code != abi.NotFound || slices.Contains(declared, f.Store) || pr.app.CanGrant(f.Store) {
		return pr.grantHint(tool, f)
	}
	if near := spell.Name(f.Store, declared); near != "" {
		return f.WithHint("did you mean %s?", near)
	}
	return f.WithHint("%s, and grant access with --grant %s=%s", pr.declareHint(shortened(f.Store)), shortened(f.Store), op.Verb)
}

// declareHint returns the hint for a store that is not declared.
func (pr *project) declareHint(store string) string {
	if pr.file != "" {
		return "declare the store in " + pr.file
	}
	return fmt.Sprintf("declare the store in a new %s, such as {app: my_app, memory: {%s: {access: user}}}", app.FileName, store)
}

// grantHint adds a hint with the missing --grant flag to the fault of a tool that is named by its
// path.
func (pr *project) grantHint(tool string, f *abi.Fault) *abi.Fault {
	op, known := memory.Operations().Lookup(f.Op)
	declared := f.Store == declare.SessionMeta || pr.app.CanGrant(f.Store)
	if !known || !declared || f.Code != abi.NotFound && f.Code != abi.AccessDenied {
		return f
	}
	verbs := string(op.Verb)
	if t, _ := pr.app.Tool(tool); f.Code == abi.AccessDenied {
		for _, g := range t.Grants {
			if g.Store == f.Store {
				verbs = joined(g.Verbs) + "," + verbs
			}
		}
	}
	return f.WithHint("grant access with --grant %s=%s", f.Store, verbs)
}

func joined(verbs []abi.Verb) string {
	words := make([]string, len(verbs))
	for i, verb := range verbs {
		words[i] = string(verb)
	}
	return strings.Join(words, ",")
}

// isGated reports whether a tool of the app requires approvals.
func (pr *project) isGated() bool {
	return slices.ContainsFunc(pr.app.Tools, func(t app.Tool) bool { return len(t.Approval.Before) > 0 })
}

// isPath reports whether the argument names a tool by its path. A path contains a separator, starts
// with a dot, or names an existing source file. An existing source file counts as a path only if no
// declared tool has its name.
func (pr *project) isPath(written string) bool {
	if strings.ContainsRune(written, '/') || strings.ContainsRune(written, filepath.Separator) || strings.HasPrefix(written, ".") {
		return true
	}
	if _, declared := pr.app.Tool(written); declared || !slices.Contains(app.Extensions(), filepath.Ext(written)) {
		return false
	}
	info, err := os.Stat(pr.env.path(written))
	return err == nil && info.Mode().IsRegular()
}

// mustTool returns an error if the app does not declare a tool.
func (pr *project) mustTool(name string) error {
	if _, ok := pr.app.Tool(name); ok {
		return nil
	}
	place := " in " + pr.shown()
	if pr.file == "" {
		place = ", and neither this folder nor a parent folder contains a file " + app.FileName
	}
	var known []string
	for _, t := range pr.app.Tools {
		known = append(known, t.Name)
	}
	none := "to run a file, give its path, such as ./tools/" + name
	if !isMissingFile(pr.env, name) {
		none = "to run a file, give its path, such as ./" + name + ".js"
	}
	f := abi.Faultf(abi.NotFound, "%s", noTool(pr.env, name, place))
	return &usageError{f.WithHint("%s", didYouMean(name, known, none))}
}

// noTool returns the message for an unknown tool or a missing source file.
func noTool(env Env, name, place string) string {
	if isMissingFile(env, name) {
		return fmt.Sprintf("the file %s does not exist, and no tool has this name%s", name, place)
	}
	return fmt.Sprintf("the tool %q does not exist%s", name, place)
}

// isMissingFile reports whether the argument looks like a source file but the file does not exist.
func isMissingFile(env Env, word string) bool {
	if !slices.Contains(app.Extensions(), filepath.Ext(word)) {
		return false
	}
	_, err := os.Stat(env.path(word))
	return errors.Is(err, fs.ErrNotExist)
}

// parseGrants parses flags of the form STORE=VERBS. The function "known" returns an error if a
// store does not exist.
func parseGrants(flags []string, known func(store string) error) ([]declare.Grant, error) {
	grants := []declare.Grant{}
	for _, text := range flags {
		store, words, ok := strings.Cut(text, "=")
		if !ok {
			return nil, usagef("use --grant "+text+"=read, or write, delete, readwrite", "--grant %q has no verbs", text)
		}
		if err := known(store); err != nil {
			return nil, err
		}
		verbs, err := declare.ParseVerbs(words)
		if err != nil {
			return nil, usagef("", "--grant %s: %v", store, err)
		}
		if slices.ContainsFunc(grants, func(g declare.Grant) bool { return g.Name() == store }) {
			return nil, usagef("combine the verbs: "+store+"=read,write", "--grant contains the store %q twice", store)
		}
		grants = append(grants, declare.GrantOn(store, verbs...))
	}
	return grants, nil
}
