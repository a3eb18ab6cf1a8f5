package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/problem"
)

// languageFiles implements commands for agent files or for machine files. The commands for agent
// files and for machine files share the code in languageFiles.
type languageFiles struct {
	baseCommand
	noun string // the kind of the files, "agent" or "machine", which is also the name of the command group
	// format formats a file. If the file cannot be formatted, format returns the errors in the
	// file.
	format func(file string, source []byte) ([]byte, problem.List)
}

// printChecked prints the problems of files. If one of the problems is an error, printChecked
// fails.
func (lf languageFiles) printChecked(files []string, problems problem.List) error {
	warnings := len(problems.Warnings())
	failures := len(problems) - warnings
	what := count(len(files), "file")
	if len(files) == 1 {
		what = files[0]
	}
	err := lf.out.answer(append(problem.List{}, problems...), func() error {
		lf.out.printProblems(lf.env.Stdout, lf.env.StdoutTerminal, problems)
		switch {
		case failures > 0:
			return nil
		case warnings > 0:
			return lf.out.say("%s: %s", what, count(warnings, "warning"))
		default:
			return lf.out.say("%s: no problems", what)
		}
	})
	if err != nil || failures == 0 {
		return err
	}
	return &usageError{abi.Faultf(abi.SourceInvalid, "%s: %s and %s", what, count(failures, "error"), count(warnings, "warning"))}
}

// formatted is the result of formatting a file.
type formatted struct {
	File    string `json:"file"`
	Changed bool   `json:"changed"`
	Text    string `json:"text,omitempty"` // Text is empty if the file is only written or checked
}

func (lf languageFiles) formatFiles(files []string, write, check bool) error {
	results := make([]formatted, 0, len(files))
	changed := 0
	for _, file := range files {
		source, err := lf.env.readFile("the "+lf.noun, file)
		if err != nil {
			return err
		}
		text, problems := lf.format(file, source)
		if problems.Err() != nil {
			return lf.printChecked([]string{file}, problems)
		}
		r := formatted{File: file, Changed: !bytes.Equal(source, text)}
		if r.Changed {
			changed++
		}
		switch {
		case write && r.Changed:
			if err := lf.replaceFile(file, text); err != nil {
				return err
			}
		case !write && !check:
			r.Text = string(text)
		}
		results = append(results, r)
	}
	if err := lf.printFormatted(results, write || check); err != nil || changed == 0 || !check {
		return err
	}
	return usagef("format them: toolrun "+lf.noun+" fmt -w FILE...", "%s not formatted", pluralIs(changed, "file"))
}

func pluralIs(n int, thing string) string {
	if n == 1 {
		return count(n, thing) + " is"
	}
	return count(n, thing) + " are"
}

// printFormatted prints the formatted texts. If the files are written or checked, printFormatted
// prints only the names of the files that change.
func (lf languageFiles) printFormatted(results []formatted, names bool) error {
	return lf.out.answer(results, func() error {
		for _, r := range results {
			var err error
			switch {
			case !names && r.Text != "":
				err = lf.out.writeText(r.Text)
			case names && r.Changed:
				err = lf.out.say("%s", r.File)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// replaceFile replaces the content of a file atomically and keeps its permissions.
func (lf languageFiles) replaceFile(name string, text []byte) error {
	dest, err := filepath.EvalSymlinks(lf.env.path(name))
	if err == nil {
		err = replaceFile(dest, text)
	}
	if err != nil {
		return abi.Faultf(abi.Unavailable, "cannot write %s: %v", name, cause(err))
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
