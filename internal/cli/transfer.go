package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/host/app"
)

func (p *program) exportCommand() *cobra.Command {
	var file, out string
	var force bool
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write an app's configuration as one document",
		Long: `Write an app's configuration as one document: stores with their schemas, access and retention, tools and
prompts. It holds nothing of what is stored, and not the tools' code. It is an app file itself.`,
		Example: `  toolrun export > shop.json
  toolrun export --app shop/app.yaml -o shop.json`,
		Args: takes(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			pr, err := p.openApp(file)
			if err != nil {
				return err
			}
			defer pr.close()
			if err := pr.whole(); err != nil {
				return err
			}
			return p.writeApp(pr.app, out, force)
		},
	}
	appFlag(cmd, &file)
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to this `file` instead of stdout")
	cmd.Flags().BoolVar(&force, "force", false, "replace the file if there is one")
	return cmd
}

// whole refuses an app of which something would be missing.
func (pr *project) whole() error {
	if pr.problems.Err() == nil {
		return nil
	}
	return &appError{pr.file, pr.problems}
}

func (p *program) importCommand() *cobra.Command {
	var out, dir string
	var force bool
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Read an exported document and write it as an app file",
		Long: `Read a document that export wrote, or any app file whose schemas are written in place, check it, and write it
as an app file. Tools' code is not part of it: it names the files to bring along.`,
		Example: `  toolrun import shop.json --dir shop
  toolrun import - -o app.yaml < shop.json`,
		Args: takes(1, 1, "a FILE, or - for stdin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out != "" && dir != "" {
				return usagef("give one of them", "-o and --dir both say where to write")
			}
			if dir != "" {
				out = filepath.Join(dir, app.FileName)
			}
			return p.importApp(cmd.Context(), args[0], out, force)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to this `file` instead of stdout")
	cmd.Flags().StringVar(&dir, "dir", "", "write an "+app.FileName+" into this `folder`, which is made if need be")
	cmd.Flags().BoolVar(&force, "force", false, "replace the file if there is one")
	return cmd
}

func (p *program) importApp(ctx context.Context, from, out string, force bool) error {
	name := from
	var document []byte
	var err error
	if from == "-" {
		name = "stdin"
		document, err = p.readStdin(ctx, "the document")
	} else {
		document, err = p.readFile("the document", from)
	}
	if err != nil {
		return err
	}
	imported, problems := app.Import(name, document)
	if problems.Err() != nil {
		return &appError{name, problems}
	}
	if err := p.writeApp(imported, out, force); err != nil || out == "" {
		return err
	}
	p.missingSources(imported, filepath.Dir(p.env.path(out)))
	return nil
}

// missingSources names the code that a document does not bring along.
func (p *program) missingSources(a *app.App, dir string) {
	for _, t := range a.Tools {
		source := t.Source
		if source == "" {
			source = t.Dir
		}
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(source))); errors.Is(err, fs.ErrNotExist) {
			p.warn("the tool %s needs %s beside the app file", t.Name, source)
		}
	}
}

// writeApp writes an app's document to a file or, where none is named, to stdout.
func (p *program) writeApp(a *app.App, out string, force bool) error {
	document, err := app.Export(a)
	if err != nil {
		return err
	}
	if out == "" {
		p.answered = true
		_, err := p.env.Stdout.Write(document)
		return err
	}
	if err := p.writeFile(out, document, force); err != nil {
		return err
	}
	return p.answer(map[string]string{"file": out}, func() error { return p.say("wrote %s", out) })
}

// writeFile makes a file and its folder; it replaces one that is there only by force.
func (p *program) writeFile(name string, content []byte, force bool) error {
	full := p.env.path(name)
	if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
		return usagef("", "the folder of %s cannot be made: %v", name, cause(err))
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if force {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(full, flags, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return usagef("to replace it, add --force", "%s exists", name)
	}
	if err == nil {
		_, err = f.Write(content)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return usagef("", "%s cannot be written: %v", name, cause(err))
	}
	return nil
}
