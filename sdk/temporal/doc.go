// Package temporal has the activity that runs tools in workflows of Temporal: a function node of a workflow is one call of
// [Activities.RunTool].
//
// A run is a transaction, and a retry of the activity is the same run: what a tool wrote is stored once, also where the
// worker died after the commit and before its answer. While a tool runs the activity heartbeats, so that a workflow
// which cancels it stops the tool.
//
// The contract between a workflow and a function node is docs/reference/function-node.md, whatever the engine of workflows.
package temporal
