package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// The following codes identify problems that are visible only in the database.
const (
	codeMoved   problem.Code = "moved"   // the access of a store has changed
	codeOrphan  problem.Code = "orphan"  // records belong to a store that is no longer declared
	codeUnfit   problem.Code = "unfit"   // records violate the schema of their store
	codeVectors problem.Code = "vectors" // another model computed the vectors of a collection
	codeOther   problem.Code = "other"   // records belong to an app with a different id
)

// checkCommand checks an app and its records.
type checkCommand struct{ baseCommand }

func (cc checkCommand) command() *cobra.Command {
	var file, db, tenant string
	var isolation isolationFlags
	var models modelFlags
	cmd := &cobra.Command{
		Use:   "check [APP]",
		Short: "Report every mistake in an app: in its file, its tools, its prompts and its database",
		Long: `Report all mistakes of an app at once. A mistake is printed as file:line:column: message. The command
compiles every tool, checks the code of every tool without running the code, and parses every template. With --db, the
command checks the stored records against the declarations of the app. With --models, the command reports each model
that a tool or an agent uses, but that the models file does not declare. With --db and --models, the command reports
each collection whose entries have vectors of another model.

The command reports only certain mistakes in code, such as a store that is not declared or not granted, an unknown
name, or a module that cannot be imported. TypeScript types are not checked; to check the types, run tsc.

The exit code is 2 if there are errors, and 0 if there are only warnings.`,
		Example: `  toolrun check
  toolrun check shop/app.yaml --json
  toolrun check --models models.yaml
  toolrun check --db .toolrun/memory.db`,
		Args: takes(0, 1, "at most one APP"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if file != "" {
					return usagef("name only one app file", "the command contains two app files: %s and %s", args[0], file)
				}
				file = args[0]
			}
			known, err := models.named(cc.env)
			if err != nil {
				return err
			}
			return cc.check(cmd.Context(), file, db, tenant, isolation, known)
		},
	}
	appFlag(cmd, &file)
	isolation.register(cmd)
	models.registerFile(cmd)
	cmd.Flags().StringVar(&db, "db", "", "also check the records of this database `file`")
	cmd.Flags().StringVar(&tenant, "tenant", host.DefaultTenant, "the `id` of the tenant whose records are checked")
	return cmd
}

func (cc checkCommand) check(ctx context.Context, file, db, tenant string, isolation isolationFlags, models *model.Set) error {
	pr, err := cc.projects.read(file)
	if err != nil {
		return err
	}
	defer pr.close()
	if pr.file == "" {
		return errNoApp
	}
	problems, kept := pr.problems, inventory{}
	err = cc.out.progress("checking "+pr.file, func() error {
		if pr.app == nil {
			return nil
		}
		found, err := cc.checkParts(ctx, pr, isolation)
		found = append(append(found, pr.unknownModels(models)...), caseProblems(pr)...)
		if err != nil || db == "" {
			problems = append(problems, found...)
			return err
		}
		kept, err = cc.inventory(ctx, pr, db, tenant, models)
		flags := flagText("app", file) + flagText("db", db)
		if tenant != host.DefaultTenant {
			flags += flagText("tenant", tenant)
		}
		problems = append(append(problems, found...), pr.compare(kept, flags)...)
		return err
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(problems, func(a, b problem.Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line, a.Column-b.Column)
	})
	return cc.print(pr, problems, kept.stores)
}

// unknownModels returns a warning for each model that the app uses but models.yaml does not
// declare. If the command has no models.yaml, the argument "models" is nil, and unknownModels
// returns nothing.
func (pr *project) unknownModels(models *model.Set) problem.List {
	if models == nil {
		return nil
	}
	problems := append(pr.app.UnknownModels(models.HasChat), pr.app.UnknownEmbeddings(models.HasEmbedder)...)
	return shownProblems(pr, problems)
}

// caseProblems returns the problems in the files that contain test cases of tools.
func caseProblems(pr *project) problem.List {
	var problems problem.List
	for _, t := range pr.app.Tools {
		_, found := app.LoadCases(pr.app.Files, t)
		problems = append(problems, shownProblems(pr, found)...)
	}
	return problems
}

// shownProblems returns the problems after replacing the paths of files with the paths to display.
func shownProblems(pr *project, problems problem.List) problem.List {
	for i, p := range problems {
		problems[i].File = pr.env.show(filepath.Join(pr.dir, filepath.FromSlash(p.File)))
	}
	return problems
}

// checkParts compiles the tools and parses the prompts of an app.
func (cc checkCommand) checkParts(ctx context.Context, pr *project, isolation isolationFlags) (problem.List, error) {
	tools, err := isolation.open(cc.out, cc.out.logger())
	if err != nil {
		return nil, err
	}
	problems, err := cc.checkTools(ctx, pr, announceLoads(cc.out, tools.engines))
	return problems, errors.Join(err, tools.close())
}

func (cc checkCommand) checkTools(ctx context.Context, pr *project, engines []engine.Engine) (problem.List, error) {
	backend := mem.New()
	h, err := host.Open(ctx, host.Options{App: pr.app, Backend: backend, Engines: engines, SweepEvery: -1, Now: cc.env.Now, Logger: cc.out.logger()})
	if err != nil {
		return nil, errors.Join(err, backend.Close())
	}
	reviews := h.Review(ctx)
	var problems problem.List
	for _, t := range pr.app.Tools {
		review := reviews[t.Name]
		if review.Err != nil && len(t.Broken) == 0 {
			problems = append(problems, pr.toolProblem(t, faultOf(review.Err)))
		}
		for _, f := range review.Findings {
			problems = append(problems, pr.findingProblem(t, f))
		}
	}
	for _, prompt := range pr.app.Prompts {
		if mistake, bad := cc.checkPrompt(ctx, h, pr, prompt); bad {
			problems = append(problems, mistake)
			continue
		}
		problems = append(problems, pr.checkFields(h, prompt)...)
	}
	return problems, errors.Join(ctx.Err(), h.Close(), backend.Close())
}

// toolProblem returns the problem to report for a tool that does not compile. The problem contains
// the location of the error in the author's code.
func (pr *project) toolProblem(t app.Tool, f *abi.Fault) problem.Problem {
	if f.File == "" {
		whole := *f
		whole.File = strings.TrimPrefix(t.Source, folderOf(t)+"/")
		f = &whole
	}
	f = pr.codeFolder(t.Name).fault(f)
	return problem.Problem{
		File: f.File, Line: f.Line, Column: f.Column,
		Message: f.Message, Hint: f.Hint, Code: problem.BadSource, Severity: problem.Error, Tool: t.Name,
	}
}

// findingProblem returns a warning about a tool's code or limits.
func (pr *project) findingProblem(t app.Tool, f host.Finding) problem.Problem {
	if f.Limit != "" {
		mistake := t.LimitProblem(f.Limit, f.Code, f.Message, f.Hint)
		mistake.File = pr.env.show(filepath.Join(pr.dir, filepath.FromSlash(mistake.File)))
		return mistake
	}
	return problem.Problem{
		File: pr.codeFolder(t.Name).file(f.File), Line: f.Line, Column: f.Column,
		Message: f.Message, Hint: f.Hint, Code: f.Code, Severity: problem.Warning, Tool: t.Name,
	}
}

// checkPrompt finds syntax errors in templates, and templates that read a store without a grant.
// checkPrompt renders the prompt for a user without records to find the errors.
func (cc checkCommand) checkPrompt(ctx context.Context, h *host.Host, pr *project, prompt app.Prompt) (problem.Problem, bool) {
	if len(prompt.Broken) > 0 {
		return problem.Problem{}, false
	}
	_, err := h.Render(ctx, host.Caller{User: "check", Session: "check"}, prompt.Name)
	if err == nil || ctx.Err() != nil {
		return problem.Problem{}, false
	}
	f := faultOf(err)
	if f.Code != abi.NotFound {
		return pr.promptProblem(prompt, f.Line, f.Column, f.Message, f.Hint), true
	}
	message, hint := pr.missingGrant(f)
	line, column := f.Line, f.Column
	for _, ref := range h.Refs(prompt.Name) {
		if ref.Fact == f.Item && ref.Fact != "" || ref.Store == f.Store {
			line, column = ref.Line, ref.Column
		}
	}
	return pr.promptProblem(prompt, line, column, message, hint), true
}

// missingGrant returns the message and the hint for a store or a fact that a prompt cannot read.
func (pr *project) missingGrant(f *abi.Fault) (message, hint string) {
	what, name, known := "store", f.Store, append(slices.Concat(pr.storeNames(), pr.blockNames()), declare.SessionMeta)
	if f.Store == declare.Facts {
		what, name, known = "fact", f.Item, pr.factPaths()
	}
	if !slices.Contains(known, name) {
		return fmt.Sprintf("the %s %q is not declared", what, name), didYouMean(name, known, "")
	}
	return fmt.Sprintf("the prompt has no grant on the %s %q", what, name), fmt.Sprintf("add a grant to the prompt: grants: {%s: read}", name)
}

// checkFields returns a warning for each field that a prompt uses but that cannot exist in any
// record.
func (pr *project) checkFields(h *host.Host, prompt app.Prompt) problem.List {
	var problems problem.List
	for _, ref := range h.Refs(prompt.Name) {
		store, _ := pr.app.Store(ref.Store)
		for _, path := range ref.Paths {
			field, known := undeclared(store, path)
			if field == "" {
				continue
			}
			message := fmt.Sprintf("the strict store %q has no field %s", ref.Store, field)
			mistake := pr.promptProblem(prompt, ref.Line, ref.Column, message, didYouMean(lastOf(field), known, ""))
			mistake.Code, mistake.Severity = codeNoField, problem.Warning
			problems = append(problems, mistake)
		}
	}
	return problems
}

func lastOf(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// promptProblem returns a problem whose location is in the template of a prompt.
func (pr *project) promptProblem(prompt app.Prompt, line, column int, message, hint string) problem.Problem {
	mistake := prompt.Problem(max(line, 1), max(column, 1), message, hint)
	mistake.File = pr.env.show(filepath.Join(pr.dir, filepath.FromSlash(mistake.File)))
	return mistake
}

// inventory describes the stores in a database and the records of other apps.
type inventory struct {
	stores []memory.StoreAudit
	others []memory.OtherApp
	// vectors contains a fault for each collection whose vectors were computed by another model.
	vectors []*abi.Fault
}

// inventory inspects the records of a database. The method opens only the memory service. Opening
// the app would fail if the declarations of the app do not match the records.
func (cc checkCommand) inventory(ctx context.Context, pr *project, path, tenant string, models *model.Set) (kept inventory, err error) {
	backend, err := newDatabase(cc.env, path).open(false)
	if err != nil {
		return kept, err
	}
	defer func() { err = errors.Join(err, backend.Close()) }()
	service, err := cc.apps.memory(pr.app, backend)
	if err != nil {
		return kept, err
	}
	if kept.stores, err = service.Audit(ctx, tenant); err != nil {
		return kept, err
	}
	if kept.vectors, err = host.CheckEmbeddings(ctx, service, models, tenant); err != nil {
		return kept, err
	}
	kept.others, err = service.OtherApps(ctx, tenant)
	return kept, err
}

// compare returns the problems of records that do not match the declarations. The argument "flags"
// contains the flags of this command that specify the app and the database.
func (pr *project) compare(kept inventory, flags string) problem.List {
	var problems problem.List
	add := func(severity problem.Severity, code problem.Code, hint, format string, args ...any) {
		problems = append(problems, problem.Problem{
			File: pr.file, Message: fmt.Sprintf(format, args...), Hint: hint, Code: code, Severity: severity,
		})
	}
	for _, r := range kept.stores {
		declared, _ := pr.app.Store(r.Store)
		switch {
		case r.Moved == "":
		case r.Store == declare.Facts:
			add(problem.Error, codeMoved, "restore the scopes and delete the values with `toolrun fact delete`, or declare other paths",
				"facts with the scope %s are now declared with another scope", r.Moved)
		default:
			add(problem.Error, codeMoved, movedHint(r.Store, flags),
				"the store %q has records with the access %s, but is now declared with the access %s", r.Store, r.Moved, declared.Access)
		}
		if r.Orphan && r.Records > 0 {
			add(problem.Warning, codeOrphan, "restore the declaration, or remove the records with: "+purgeCommand(r.Store, flags),
				"the store %q has %s but is no longer declared", r.Store, count(r.Records, "record"))
		}
		if r.Unfit > 0 {
			add(problem.Warning, codeUnfit, "correct the records; a write to a strict store must make the whole content valid",
				"%d of %s of the store %q do not match its schema", r.Unfit, count(r.Records, "record"), r.Store)
		}
	}
	for _, f := range kept.vectors {
		add(problem.Error, codeVectors, f.Hint, "%s", f.Message)
	}
	for _, other := range kept.others {
		held := count(other.Records, "record")
		if other.More {
			held = "over " + held
		}
		add(problem.Warning, codeOther, "if the app was renamed, restore its id to use these records, with app: "+other.App,
			"the database has %s of another app, %q", held, other.App)
	}
	return problems
}

// print prints the problems and a summary of the app.
func (cc checkCommand) print(pr *project, problems problem.List, reports []memory.StoreAudit) error {
	warnings := len(problems.Warnings())
	failures := len(problems) - warnings
	err := cc.out.answer(append(problem.List{}, problems...), func() error {
		cc.out.printProblems(cc.env.Stdout, cc.env.StdoutTerminal, problems)
		if err := cc.printReports(reports); err != nil || failures > 0 {
			return err
		}
		if warnings > 0 {
			return cc.out.say("%s: %s; %s", pr.file, pr.summary(), count(warnings, "warning"))
		}
		return cc.out.say("%s: %s; no problems", pr.file, pr.summary())
	})
	if err != nil || failures == 0 {
		return err
	}
	f := abi.Faultf(abi.SourceInvalid, "%s has %s and %s", pr.file, count(failures, "error"), count(warnings, "warning"))
	return &usageError{f}
}

func (cc checkCommand) printReports(reports []memory.StoreAudit) error {
	if len(reports) == 0 {
		return nil
	}
	var rows [][]string
	for _, r := range reports {
		rows = append(rows, []string{r.Store, strconv.Itoa(r.Records), strconv.Itoa(r.Unfit)})
	}
	return cc.out.table([]string{"STORE", "RECORDS", "UNFIT"}, rows)
}
