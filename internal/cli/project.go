package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/internal/cachefs"
	"github.com/toolrun/toolrun/internal/spell"
)

// project is an app file as the command line found it: the declarations and their folder.
type project struct {
	env Env
	// app is nil if mistakes in the file leave no usable app.
	app *app.App
	// dir is the absolute folder. file is the app file as a person would write it, "" if there is none.
	dir, file string
	// files is the absolute folder of the tools' paths: dir, or the folder of a tool given by its path.
	files    string
	problems app.Problems
	roots    []*os.Root  // opened to read the files
	once     *cachefs.FS // caches the files of the app; nil if they are not cached
}

// projects finds and reads the app files that commands name.
type projects struct{ env Env }

// open reads the named app file, or the nearest one in the working directory or above. If no file is named or found, the
// project has an empty app: its id is "default" and its folder is the working directory.
func (ps projects) open(named string) (*project, error) {
	pr, err := ps.read(named)
	if err != nil {
		return nil, err
	}
	if pr.app == nil {
		pr.close()
		return nil, &appError{pr.file, pr.problems}
	}
	return pr, nil
}

// openApp is open for commands that require an app file.
func (ps projects) openApp(named string) (*project, error) {
	pr, err := ps.open(named)
	if err == nil && pr.file == "" {
		return nil, errNoApp
	}
	return pr, err
}

var errNoApp = usagef("name one with --app FILE", "there is no %s in this folder or above it", app.FileName)

// read is open for commands that report the mistakes of the file.
func (ps projects) read(named string) (*project, error) {
	file, err := ps.find(named)
	if err != nil {
		return nil, err
	}
	if file == "" {
		empty := &app.App{ID: defaultApp, SessionIdle: app.DefaultSessionIdle}
		return &project{env: ps.env, app: empty, dir: ps.env.Dir, files: ps.env.Dir}, nil
	}
	pr := &project{env: ps.env, dir: filepath.Dir(file), files: filepath.Dir(file), file: ps.env.show(file)}
	// All files of an app are in its folder: os.Root rejects links that lead out of it.
	root, err := os.OpenRoot(pr.dir)
	if err != nil {
		return nil, usagef("", "the folder of %s cannot be opened: %v", pr.file, cause(err))
	}
	pr.roots = append(pr.roots, root)
	pr.app, pr.problems = app.Load(root.FS(), filepath.Base(file))
	for i, problem := range pr.problems {
		pr.problems[i].File = ps.env.show(filepath.Join(pr.dir, filepath.FromSlash(problem.File)))
	}
	return pr, nil
}

// defaultApp is the id of an app without a file.
const defaultApp = "default"

// find returns the absolute path of the named app file, or of the nearest one in the working directory or above; "" for none.
func (ps projects) find(named string) (string, error) {
	if named == "" {
		return nearestApp(ps.env.Dir), nil
	}
	file := ps.env.path(named)
	info, err := os.Stat(file)
	if err == nil && info.IsDir() {
		file = filepath.Join(file, app.FileName)
		info, err = os.Stat(file)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", usagef("name an existing file", "there is no app file %s", ps.env.show(file))
	case err != nil:
		return "", usagef("", "the app file %s cannot be read: %v", ps.env.show(file), cause(err))
	case info.IsDir():
		return "", usagef("", "%s is a folder", ps.env.show(file))
	}
	return file, nil
}

func nearestApp(dir string) string {
	for {
		file := filepath.Join(dir, app.FileName)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return file
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// cause returns the error of the system without the path, which our messages show as it was written.
func cause(err error) error {
	if bad, ok := errors.AsType[*fs.PathError](err); ok {
		return bad.Err
	}
	return err
}

// readTool reads a tool by its path, without any app around it. The caller closes the root.
func readTool(env Env, written string) (*app.Tool, *os.Root, error) {
	full := env.path(written)
	info, err := os.Stat(full)
	if errors.Is(err, fs.ErrNotExist) {
		f := abi.Faultf(abi.NotFound, "there is no tool file or folder %s", written)
		return nil, nil, &usageError{f.WithHint("to run a declared tool, write its name without slashes or leading dots")}
	}
	if err != nil {
		return nil, nil, usagef("", "%s cannot be read: %v", written, cause(err))
	}
	dir, name := filepath.Dir(full), filepath.Base(full)
	if info.IsDir() {
		dir, name = full, "."
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, usagef("", "the folder of %s cannot be opened: %v", written, cause(err))
	}
	tool, problems := app.LoadTool(root.FS(), name)
	for i := range problems {
		problems[i].File = env.show(filepath.Join(dir, filepath.FromSlash(problems[i].File)))
	}
	if tool == nil {
		root.Close()
		return nil, nil, &appError{cmp.Or(strings.TrimRight(written, "/"), "/"), problems}
	}
	return tool, root, nil
}

// mustStore returns an error if the app does not declare a store.
func (pr *project) mustStore(name string, builtIn ...string) error {
	known := append(pr.storeNames(), builtIn...)
	if slices.Contains(known, name) {
		return nil
	}
	f := abi.Faultf(abi.NotFound, "there is no store %q in %s", name, pr.shown())
	if pr.file == "" && spell.Name(name, known) == "" {
		return &usageError{f.WithHint("%s", pr.declareHint(name))}
	}
	return &usageError{f.WithHint("%s", didYouMean(name, known, "the app declares no stores"))}
}

// withStore is openApp for a command on a store.
func (ps projects) withStore(store string, builtIn ...string) finder {
	return func(named string) (*project, error) {
		pr, err := ps.openApp(named)
		if err != nil {
			return nil, err
		}
		if err := pr.mustStore(store, builtIn...); err != nil {
			pr.close()
			return nil, err
		}
		return pr, nil
	}
}

func (pr *project) storeNames() []string {
	var names []string
	for _, s := range pr.app.Stores {
		names = append(names, s.Name)
	}
	return names
}

// shown returns the app file for messages.
func (pr *project) shown() string {
	if pr.file == "" {
		return "an app without a file"
	}
	return pr.file
}

// didYouMean returns the hint for an unknown name.
func didYouMean(word string, known []string, none string) string {
	if near := spell.Name(word, known); near != "" {
		return "did you mean " + near + "?"
	}
	if len(known) == 0 {
		return none
	}
	return "known here: " + strings.Join(known, ", ")
}

// summary counts the declarations of an app.
func (pr *project) summary() string {
	return fmt.Sprintf("%s, %s, %s", count(len(pr.app.Stores), "store"), count(len(pr.app.Tools), "tool"),
		count(len(pr.app.Prompts), "prompt"))
}

// seal ends the reading of the app's files, once the files of its tools have been read.
func (pr *project) seal() {
	pr.once.Seal()
	pr.close()
}

func (pr *project) close() {
	for _, root := range pr.roots {
		root.Close()
	}
}
