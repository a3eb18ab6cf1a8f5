// Package temporal provides an activity that runs tools in Temporal workflows: a function node of a
// workflow is one call of [Activities.RunTool].
//
// A run is a transaction, and a retry of the activity is the same run: the writes of a tool are
// stored once, even if the worker died between the commit and its response. The activity sends
// heartbeats while a tool runs, so that a workflow that cancels it stops the tool.
//
// The contract between a workflow and a function node is in docs/reference/function-node.md. It does not
// depend on the workflow engine.
package temporal
