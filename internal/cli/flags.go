package cli

import (
	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/host"
)

// appFlag registers the flag --app.
func appFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "app", "", "the app `file` or its folder (default: app.yaml in this folder or the nearest parent)")
	_ = cmd.MarkFlagFilename("app", "yaml", "yml", "json") // fails only if the flag is missing
}

// placeFlags contains the flags that specify an app and its database.
type placeFlags struct{ app, db string }

func (f *placeFlags) register(cmd *cobra.Command) {
	appFlag(cmd, &f.app)
	cmd.Flags().StringVar(&f.db, "db", "", "the database `file` (default: "+stateFolder+"/"+databaseName+" next to the app file)")
	_ = cmd.MarkFlagFilename("db", "db")
}

// callerFlags contains the flags that specify the caller on whose behalf a command acts.
type callerFlags struct{ tenant, user, session, workflow, agent string }

func (f *callerFlags) register(cmd *cobra.Command) {
	f.tenantFlag(cmd)
	f.userFlag(cmd)
	cmd.Flags().StringVar(&f.session, "session", "", "the `id` of the session that owns the records of session stores; a run or a write with a new id starts a session")
}

// workflowFlag registers the flag --workflow. Commands that read or write facts need the flag.
func (f *callerFlags) workflowFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.workflow, "workflow", "", "the `id` of the workflow that owns facts with the scope execution_tree; a run or a write with a new id starts a workflow")
}

// agentFlag registers the flag --agent. Commands that read or write the blocks of an agent need the
// flag.
func (f *callerFlags) agentFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.agent, "agent", "", "the `id` of the agent that is active for the user, for the blocks of agents")
}

func (f *callerFlags) tenantFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.tenant, "tenant", host.DefaultTenant, "the `id` of the tenant")
}

func (f *callerFlags) userFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.user, "user", "", "the `id` of the user who owns the records of user stores")
}

func (f *callerFlags) caller() host.Caller {
	return host.Caller{Tenant: f.tenant, User: f.user, Session: f.session, Workflow: f.workflow, Agent: f.agent}
}

// memoryFlags contains the flags of commands that use the memory of an app. The app is either local
// or at a server.
type memoryFlags struct {
	placeFlags
	callerFlags
	serverFlags
}

func (f *memoryFlags) register(cmd *cobra.Command) {
	f.registerPlace(cmd)
	f.callerFlags.register(cmd)
}

// registerPlace registers only the flags for the app, the database and the server.
func (f *memoryFlags) registerPlace(cmd *cobra.Command) {
	f.placeFlags.register(cmd)
	f.serverFlags.register(cmd)
}
