package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/app"
)

func (ac agentCommands) format() *cobra.Command {
	var write, check bool
	cmd := &cobra.Command{
		Use:   "fmt [-w | --check] FILE...",
		Short: "Format the files of agents",
		Long: `Format the files of agents: two spaces for each level, one space after a colon, at most one blank line. The
meaning and the comments stay the same. The formatted text is printed, unless -w or --check is set.`,
		Example: `  toolrun agent fmt booking.abl
  toolrun agent fmt -w agents/*.abl
  toolrun agent fmt --check agents/*.abl`,
		Args: takes(1, -1, "at least one FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			if write && check {
				return usagef("choose one of them", "-w cannot be combined with --check")
			}
			return ac.formatFiles(args, write, check)
		},
	}
	cmd.Flags().BoolVarP(&write, "write", "w", false, "write the files instead of printing them")
	cmd.Flags().BoolVar(&check, "check", false, "list the files that are not formatted, and exit with code 2 if there are any")
	return cmd
}

// formatted is the result of formatting a file.
type formatted struct {
	File    string `json:"file"`
	Changed bool   `json:"changed"`
	Text    string `json:"text,omitempty"` // unless the file is written or checked
}

func (ac agentCommands) formatFiles(files []string, write, check bool) error {
	results := make([]formatted, 0, len(files))
	changed := 0
	for _, file := range files {
		source, err := ac.env.readFile("the agent", file)
		if err != nil {
			return err
		}
		text, err := abl.Format(source)
		if problems, ok := errors.AsType[abl.Problems](err); ok {
			for i := range problems {
				problems[i].File = file
			}
			return ac.printChecked([]string{file}, app.AgentProblems(problems))
		}
		r := formatted{File: file, Changed: !bytes.Equal(source, text)}
		if r.Changed {
			changed++
		}
		switch {
		case write && r.Changed:
			if err := ac.replaceFile(file, text); err != nil {
				return err
			}
		case !write && !check:
			r.Text = string(text)
		}
		results = append(results, r)
	}
	if err := ac.printFormatted(results, write || check); err != nil || changed == 0 || !check {
		return err
	}
	return usagef("format them: toolrun agent fmt -w FILE...", "%s not formatted", pluralIs(changed, "file"))
}

func pluralIs(n int, thing string) string {
	if n == 1 {
		return count(n, thing) + " is"
	}
	return count(n, thing) + " are"
}

// printFormatted prints the texts, or only the names of the files that change.
func (ac agentCommands) printFormatted(results []formatted, names bool) error {
	return ac.out.answer(results, func() error {
		for _, r := range results {
			var err error
			switch {
			case !names && r.Text != "":
				err = ac.out.writeText(r.Text)
			case names && r.Changed:
				err = ac.out.say("%s", r.File)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// replaceFile replaces the content of a file atomically and keeps its permissions.
func (ac agentCommands) replaceFile(name string, text []byte) error {
	dest, err := filepath.EvalSymlinks(ac.env.path(name))
	if err == nil {
		err = replaceFile(dest, text)
	}
	if err != nil {
		return abi.Faultf(abi.Unavailable, "write %s: %v", name, cause(err))
	}
	return nil
}

func replaceFile(dest string, text []byte) error {
	info, err := os.Stat(dest)
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(dest), "."+filepath.Base(dest)+".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // fails after the rename
	_, err = temp.Write(text)
	if err = errors.Join(err, temp.Chmod(info.Mode().Perm()), temp.Sync(), temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), dest)
}
