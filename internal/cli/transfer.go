package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/host/app"
)

// transferCommands implements the export and import commands.
type transferCommands struct{ baseCommand }

func (tc transferCommands) export() *cobra.Command {
	var f memoryFlags
	var out string
	var force bool
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Export the configuration of an app, or all data of a user",
		Long: `Write the configuration of an app as one document, which contains the tools, the prompts, and the
stores with their schemas, access and retention. The document is a valid app file. The document contains neither
records nor the code of the tools.

With --user, write all data of the user in one app as a ZIP archive instead: records, sessions and workflows, files,
runs that wait for an approval, results kept for later requests, and ledger entries. The command toolrun erase removes
the same data, and also expired data.`,
		Example: `  toolrun export > shop.json
  toolrun export --app shop/app.yaml -o shop.json
  toolrun export --user ann -o ann.zip`,
		Args: takes(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("user") {
				return tc.exportUser(cmd, &f, out, force)
			}
			if err := f.check(cmd); err != nil {
				return err
			}
			for _, name := range []string{"db", "tenant"} {
				if cmd.Flags().Changed(name) {
					return usagef("add --user USER, or omit the flag", "--%s applies only to an export with --user", name)
				}
			}
			export := tc.exportLocal
			if f.remote() {
				export = func(file string) ([]byte, error) { return tc.exportRemote(cmd.Context(), &f.serverFlags, file) }
			}
			document, err := export(f.app)
			if err != nil {
				return err
			}
			return tc.writeDocument(document, out, force)
		},
	}
	f.registerPlace(cmd)
	f.tenantFlag(cmd)
	cmd.Flags().StringVar(&f.user, "user", "", "export the data of the user with this `id` instead of the configuration")
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to this `file` instead of stdout")
	cmd.Flags().BoolVar(&force, "force", false, "replace an existing file")
	return cmd
}

func (tc transferCommands) exportLocal(file string) ([]byte, error) {
	pr, err := tc.projects.openApp(file)
	if err != nil {
		return nil, err
	}
	defer pr.close()
	if err := pr.whole(); err != nil {
		return nil, err
	}
	return app.Export(pr.app)
}

// exportRemote exports an app from a server in the same format as exportLocal.
func (tc transferCommands) exportRemote(ctx context.Context, server *serverFlags, id string) ([]byte, error) {
	r, err := tc.apps.client(server, id)
	if err != nil {
		return nil, err
	}
	document, err := r.Export(ctx)
	if err != nil {
		return nil, explainServer(err)
	}
	laid := &bytes.Buffer{}
	if err := json.Indent(laid, document, "", "  "); err != nil {
		return nil, err
	}
	laid.WriteByte('\n')
	return laid.Bytes(), nil
}

// whole returns an error if the app file has mistakes, because an export of the app would then be
// incomplete.
func (pr *project) whole() error {
	if pr.problems.Err() == nil {
		return nil
	}
	return &appError{pr.file, pr.problems}
}

func (tc transferCommands) importCommand() *cobra.Command {
	var out, dir, id string
	var force bool
	var server serverFlags
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Import an exported document as an app file",
		Long: `Read a document that toolrun export wrote, or any app file with inline schemas. Check the document,
and write it as an app file. The document does not include the code of the tools, so the command lists the missing
files.

With --server, the command writes no app file. Instead, the command declares the stores of the document on the server,
in addition to the stores of the server's app file.`,
		Example: `  toolrun import shop.json --dir shop
  toolrun import - -o app.yaml < shop.json`,
		Args: takes(1, 1, "a FILE, or - for stdin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := server.check(cmd); err != nil {
				return err
			}
			writes := out != "" || dir != "" || force
			switch {
			case server.remote() && writes:
				return usagef("omit -o, --dir and --force", "an import with --server writes no file")
			case server.remote():
				return tc.importRemote(cmd.Context(), &server, id, args[0])
			case id != "":
				return usagef("use --dir to write a file", "--app requires --server")
			}
			if out != "" && dir != "" {
				return usagef("omit one of the conflicting flags", "-o cannot be combined with --dir")
			}
			if dir != "" {
				out = filepath.Join(dir, app.FileName)
			}
			return tc.importLocal(cmd.Context(), args[0], out, force)
		},
	}
	server.register(cmd)
	cmd.Flags().StringVar(&id, "app", "", "the `id` of the app at the --server (default: the only app of the key)")
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to this `file` instead of stdout")
	cmd.Flags().StringVar(&dir, "dir", "", "write an "+app.FileName+" into this `folder`, which is created if missing")
	cmd.Flags().BoolVar(&force, "force", false, "replace an existing file")
	return cmd
}

// readApp reads the document of an app.
func (tc transferCommands) readApp(ctx context.Context, from string) (*app.App, error) {
	name := from
	var document []byte
	var err error
	if from == "-" {
		name = "stdin"
		document, err = tc.env.readStdin(ctx, "the document")
	} else {
		document, err = tc.env.readFile("the document", from)
	}
	if err != nil {
		return nil, err
	}
	imported, problems := app.Import(name, document)
	if problems.Err() != nil {
		return nil, &appError{name, problems}
	}
	return imported, nil
}

// importRemote declares the stores in a document at a server.
func (tc transferCommands) importRemote(ctx context.Context, server *serverFlags, id, from string) error {
	imported, err := tc.readApp(ctx, from)
	if err != nil {
		return err
	}
	document, err := app.Export(imported)
	if err != nil {
		return err
	}
	r, err := tc.apps.client(server, id)
	if err != nil {
		return err
	}
	done, err := r.Import(ctx, document)
	if err != nil {
		return explainServer(err)
	}
	return tc.out.answer(done, func() error {
		for _, left := range done.LeftOut {
			tc.out.warn("did not import the %s %s: %s", left.Kind, left.Name, left.Reason)
		}
		if len(done.Stores) == 0 {
			return tc.out.say("the app file of the server already declares every store")
		}
		return tc.out.say("declared %s", strings.Join(done.Stores, ", "))
	})
}

func (tc transferCommands) importLocal(ctx context.Context, from, out string, force bool) error {
	imported, err := tc.readApp(ctx, from)
	if err != nil {
		return err
	}
	document, err := app.Export(imported)
	if err != nil {
		return err
	}
	if err := tc.writeDocument(document, out, force); err != nil || out == "" {
		return err
	}
	tc.warnMissingSources(imported, filepath.Dir(tc.env.path(out)))
	return nil
}

// warnMissingSources warns about missing source files of tools.
func (tc transferCommands) warnMissingSources(a *app.App, dir string) {
	for _, t := range a.Tools {
		source := t.Source
		if source == "" {
			source = t.Dir
		}
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(source))); errors.Is(err, fs.ErrNotExist) {
			tc.out.warn("the tool %s requires %s next to the app file", t.Name, source)
		}
	}
}

// writeDocument writes the document of an app to a file. If out is "", writeDocument writes the
// document to stdout.
func (tc transferCommands) writeDocument(document []byte, out string, force bool) error {
	if out == "" {
		tc.out.answered = true
		_, err := tc.env.Stdout.Write(document)
		return err
	}
	if err := tc.writeFile(out, document, force); err != nil {
		return err
	}
	return tc.out.answer(map[string]string{"file": out}, func() error { return tc.out.say("wrote %s", out) })
}

// writeFile writes a file and creates its folder. writeFile replaces an existing file only if force
// is true.
func (tc transferCommands) writeFile(name string, content []byte, force bool) error {
	full := tc.env.path(name)
	if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
		return usagef("", "cannot create the folder of %s: %v", name, cause(err))
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if force {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(full, flags, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return usagef("add --force to replace the file", "%s already exists", name)
	}
	if err == nil {
		_, err = f.Write(content)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return usagef("", "cannot write %s: %v", name, cause(err))
	}
	return nil
}
