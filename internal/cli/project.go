package cli

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/cachefs"
	"github.com/toolrun/toolrun/internal/spell"
)

// project contains the declarations and the folder of the app file that a command uses.
type project struct {
	env Env
	// app is nil if mistakes in the app file make the app unusable.
	app *app.App
	// dir is the absolute path of the folder. file is the path of the app file in the form that a
	// user would write. If no app file exists, "file" is "".
	dir, file string
	// files is the absolute path of the folder that contains the tools. If the command names a tool
	// by its path, "files" is the folder of the tool. Otherwise "files" is equal to "dir".
	files    string
	problems problem.List
	roots    []*os.Root  // opened to read the files of the app
	once     *cachefs.FS // the cache of the app's files, or nil without a cache
}

// projects finds and reads the app files that commands use.
type projects struct{ env Env }

// open reads the named app file. If no app file is named, the method searches for an app file in
// the working directory and in the parent folders. If the method finds no app file, the project
// contains an empty app with the id "default". The folder of a project without an app file is the
// working directory.
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

// openApp is like open, but requires an app file.
func (ps projects) openApp(named string) (*project, error) {
	pr, err := ps.open(named)
	if err == nil && pr.file == "" {
		return nil, errNoApp
	}
	return pr, err
}

var errNoApp = usagef("use --app FILE", "neither this folder nor a parent folder contains a file %s", app.FileName)

// read is like the method "open". However, mistakes in the app file are returned as problems and
// are not errors.
func (ps projects) read(named string) (*project, error) {
	file, err := ps.find(named)
	if err != nil {
		return nil, err
	}
	if file == "" {
		empty := &app.App{ID: defaultApp, SessionIdle: app.DefaultSessionIdle, WorkflowIdle: app.DefaultWorkflowIdle}
		return &project{env: ps.env, app: empty, dir: ps.env.Dir, files: ps.env.Dir}, nil
	}
	pr := &project{env: ps.env, dir: filepath.Dir(file), files: filepath.Dir(file), file: ps.env.show(file)}
	// All files of an app are in the folder of the app. os.Root rejects links to files outside the
	// folder.
	root, err := os.OpenRoot(pr.dir)
	if err != nil {
		return nil, usagef("", "cannot open the folder of %s: %v", pr.file, cause(err))
	}
	pr.roots = append(pr.roots, root)
	pr.app, pr.problems = app.Load(root.FS(), filepath.Base(file))
	for i, mistake := range pr.problems {
		pr.problems[i].File = ps.env.show(filepath.Join(pr.dir, filepath.FromSlash(mistake.File)))
	}
	return pr, nil
}

// defaultApp is the app id if no app file exists.
const defaultApp = "default"

// find returns the absolute path of the named app file. If no app file is named, the method
// searches for an app file in the working directory and in the parent folders. If no app file
// exists, find returns "".
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
		return "", usagef("use an existing file", "the app file %s does not exist", ps.env.show(file))
	case err != nil:
		return "", usagef("", "cannot read the app file %s: %v", ps.env.show(file), cause(err))
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

// cause removes the path from a system error, because the message already contains the path in the
// form that the user wrote.
func cause(err error) error {
	if bad, ok := errors.AsType[*fs.PathError](err); ok {
		return bad.Err
	}
	return err
}

// readTool reads a tool that belongs to no app. A command names the tool by its path. The caller
// must close the returned root.
func readTool(env Env, written string) (*app.Tool, *os.Root, error) {
	full := env.path(written)
	info, err := os.Stat(full)
	if errors.Is(err, fs.ErrNotExist) {
		f := abi.Faultf(abi.NotFound, "the tool file or folder %s does not exist", written)
		return nil, nil, &usageError{f.WithHint("to run a declared tool, use its name without slashes or leading dots")}
	}
	if err != nil {
		return nil, nil, usagef("", "cannot read %s: %v", written, cause(err))
	}
	dir, name := filepath.Dir(full), filepath.Base(full)
	if info.IsDir() {
		dir, name = full, "."
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, usagef("", "cannot open the folder of %s: %v", written, cause(err))
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
	known := slices.Concat(pr.storeNames(), pr.blockNames(), builtIn)
	if slices.Contains(known, name) {
		return nil
	}
	f := abi.Faultf(abi.NotFound, "the store %q does not exist in %s", name, pr.shown())
	if pr.file == "" && spell.Name(name, known) == "" {
		return &usageError{f.WithHint("%s", pr.declareHint(name))}
	}
	return &usageError{f.WithHint("%s", didYouMean(name, known, "the app declares no stores"))}
}

// withStore returns a finder that is like openApp, but returns an error if the app does not declare
// the given store.
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

// shown returns the name of the app file for messages.
func (pr *project) shown() string {
	if pr.file == "" {
		return "an app without a file"
	}
	return pr.file
}

// didYouMean returns a hint for an unknown name, with similar names.
func didYouMean(word string, known []string, none string) string {
	if near := spell.Name(word, known); near != "" {
		return "did you mean " + near + "?"
	}
	if len(known) == 0 {
		return none
	}
	return "use one of: " + strings.Join(known, ", ")
}

// summary returns a text with the numbers of the app's stores, tools and prompts. If the app has
// agents, the text also contains the number of agents.
func (pr *project) summary() string {
	text := count(len(pr.app.Stores), "store")
	if len(pr.app.Blocks) > 0 {
		text += ", " + count(len(pr.app.Blocks), "block")
	}
	text += ", " + count(len(pr.app.Tools), "tool") + ", " + count(len(pr.app.Prompts), "prompt")
	if len(pr.app.Agents) > 0 {
		text += ", " + count(len(pr.app.Agents), "agent")
	}
	return text
}

// seal closes the folders of the app. It is called after all files of the app's tools have been
// read, and all later reads use the cache.
func (pr *project) seal() {
	pr.once.Seal()
	pr.close()
}

func (pr *project) close() {
	for _, root := range pr.roots {
		root.Close()
	}
}
