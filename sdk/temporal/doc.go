// Package temporal provides an activity that runs tools in Temporal workflows. Each function node
// of a workflow is one execution of the activity [Activities.RunTool].
//
// A run is a transaction, and all retries of an activity are the same run. The writes of a tool are
// therefore stored only once, even if the worker dies after the commit and before its response. The
// activity sends heartbeats while a tool runs. If the workflow cancels the activity, the tool
// stops.
//
// The contract between a workflow and a function node is in docs/reference/function-node.md. The
// contract does not depend on the workflow engine.
package temporal
