package cli

import (
	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/host"
)

// appFlag is the flag --app.
func appFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "app", "", "the app `file`, or its folder (default: the nearest app.yaml upwards)")
	_ = cmd.MarkFlagFilename("app", "yaml", "yml", "json") // fails only for a flag that does not exist
}

// placeFlags say where an app and its database are.
type placeFlags struct{ app, db string }

func (f *placeFlags) register(cmd *cobra.Command) {
	appFlag(cmd, &f.app)
	cmd.Flags().StringVar(&f.db, "db", "", "the database `file` (default: "+stateFolder+"/"+databaseName+" beside the app file)")
	_ = cmd.MarkFlagFilename("db", "db")
}

// callerFlags say for whom a command acts.
type callerFlags struct{ tenant, user, session string }

func (f *callerFlags) register(cmd *cobra.Command) {
	f.tenantFlag(cmd)
	f.userFlag(cmd)
	cmd.Flags().StringVar(&f.session, "session", "", "the `id` of the session, which stores of access session live with; a run or a write with a new id starts one")
}

func (f *callerFlags) tenantFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.tenant, "tenant", host.DefaultTenant, "the `id` of the platform's customer")
}

func (f *callerFlags) userFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.user, "user", "", "the `id` of the user, whose own the stores of access user are")
}

func (f *callerFlags) caller() host.Caller {
	return host.Caller{Tenant: f.tenant, User: f.user, Session: f.session}
}

// memoryFlags are those of a command that an operator uses memory with, here or at a server.
type memoryFlags struct {
	placeFlags
	callerFlags
	serverFlags
}

func (f *memoryFlags) register(cmd *cobra.Command) {
	f.registerPlace(cmd)
	f.callerFlags.register(cmd)
}

// registerPlace registers the flags that say where, and none that say for whom.
func (f *memoryFlags) registerPlace(cmd *cobra.Command) {
	f.placeFlags.register(cmd)
	f.serverFlags.register(cmd)
}
