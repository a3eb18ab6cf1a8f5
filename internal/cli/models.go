package cli

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/model/openai"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// modelFlags contains the flags for the models that tools and agents can use.
type modelFlags struct {
	file string // models.yaml
	mock string // the file with answers that replace the answers of models
	live bool   // live is true if a dry run calls models
	test bool   // make a test run
}

// registerFile registers only the flag for models.yaml.
func (f *modelFlags) registerFile(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "models", "", "the `file` that declares the models for tools and agents, such as models.yaml (default: no models)")
	_ = cmd.MarkFlagFilename("models", "yaml", "yml") // fails only if the flag is missing
}

func (f *modelFlags) register(cmd *cobra.Command) {
	f.registerFile(cmd)
	cmd.Flags().StringVar(&f.mock, "mock", "", "a JSON `file` with answers in place of all models, and results in place of searches: {MODEL: [answer, ...], recall: {COLLECTION: [[entry, ...], ...]}}")
	cmd.Flags().BoolVar(&f.live, "live", false, "call models in a dry run, too")
	_ = cmd.MarkFlagFilename("mock", "json")
}

// testFlags registers the flags for dry runs and test runs.
func (f *modelFlags) testFlags(cmd *cobra.Command, dry *bool) {
	cmd.Flags().BoolVar(dry, "dry-run", false, "store nothing, and show the changes that would be stored")
	cmd.Flags().BoolVar(&f.test, "test", false, "store nothing, call no models, and find nothing in collections, except what --mock contains")
}

// open reads models.yaml and creates the models in the file. If the command has no models.yaml,
// open returns nil.
func (f *modelFlags) open(env Env) (*model.Set, error) {
	config, err := f.config(env)
	if config == nil || err != nil {
		return nil, err
	}
	set, err := model.NewSet(config, providers(), env.Getenv)
	if err != nil {
		return nil, usagef("", "%s: %v", f.file, err)
	}
	return set, nil
}

// providers returns a map from the names in models.yaml to the providers of models.
func providers() map[string]model.Factory {
	return map[string]model.Factory{"openai": openai.Factory()}
}

// named returns the models in models.yaml, but does not read their API keys. It is for commands
// that send no requests to models. If the command has no models.yaml, the result is nil.
func (f *modelFlags) named(env Env) (*model.Set, error) {
	config, err := f.config(env)
	if config == nil || err != nil {
		return nil, err
	}
	return model.NewSet(config, providers(), func(string) string { return "no key" })
}

// config reads models.yaml. If the command has no models.yaml, the result is nil.
func (f *modelFlags) config(env Env) (*model.Config, error) {
	if f.file == "" {
		return nil, nil
	}
	content, err := os.ReadFile(env.path(f.file))
	if err != nil {
		return nil, usagef("", "cannot read the models: %v", err)
	}
	config, err := model.ReadConfig(f.file, content)
	if err != nil {
		return nil, usagef("", "%v", err)
	}
	return config, nil
}

// testFieldsOf returns fields for a request to a server. The fields contain answers that replace
// the answers of models.
func testFieldsOf(test, live bool, mocks model.Mocks, recalls memory.RecallMocks) apitypes.TestFields {
	return apitypes.TestFields{Test: test, Live: live, Mocks: host.WriteMocks(mocks, recalls)}
}

// mocks reads a file with mocks. The file contains answers that replace the answers of models, and
// results that replace the results of searches. If the command has no file with mocks, the method
// returns nil.
func (f *modelFlags) mocks(env Env) (model.Mocks, memory.RecallMocks, error) {
	if f.test && f.live {
		return nil, nil, usagef("omit one of them", "--live cannot be combined with --test, which calls no models")
	}
	if f.mock == "" {
		return nil, nil, nil
	}
	content, err := os.ReadFile(env.path(f.mock))
	if err != nil {
		return nil, nil, usagef("", "cannot read the mocks: %v", err)
	}
	mocks, recalls, err := host.ReadMocks(content)
	if fault, ok := errors.AsType[*abi.Fault](err); ok {
		return nil, nil, usagef(fault.Hint, "%s: %s", f.mock, fault.Message)
	}
	return mocks, recalls, err
}
