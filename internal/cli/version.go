package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
)

// version describes the running executable.
type version struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	// ABI is the version of the ABI between host and guests.
	ABI      int    `json:"abi"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// versionCommand prints the version.
type versionCommand struct{ baseCommand }

func (vc versionCommand) command() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the versions of toolrun and its ABI",
		Example: `  toolrun version --json`,
		Args:    takes(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			v := thisVersion()
			return vc.out.answer(v, func() error { return vc.out.say("%s", v) })
		},
	}
}

// String formats the version on one line.
func (v version) String() string {
	return fmt.Sprintf("toolrun %s, ABI %d, %s, %s", v.Version, v.ABI, v.Go, v.Platform)
}

// thisVersion returns the version that the Go toolchain recorded in the executable.
func thisVersion() version {
	v := version{
		Version: "(devel)", ABI: abi.Version, Go: runtime.Version(), Platform: fmt.Sprintf("%s/%s", runtime.GOOS, runtime.GOARCH),
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v.Revision = s.Value
		}
	}
	return v
}
