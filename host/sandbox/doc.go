// Package sandbox runs guests in locked-down worker processes. Each guest can affect only its own
// run.
//
// A [Pool] keeps workers and assigns them to runs. The Engines of a Pool implement the same
// interface as in-process engines. Frames carry the source, input, memory calls, log lines and
// results. The frames cross two pipes. The receiver checks the length of a frame before it
// allocates memory for the frame. The parent does not rely on the reports of a worker. The parent
// itself enforces the limits on time, memory, calls and sizes. If a worker exceeds its deadline or
// memory limit, the parent kills the worker. If a worker is killed, its run ends with the fault
// timeout, memory_limit or stack_limit. A spare worker executes the next run.
//
// A worker is a new process. A worker executes the same program that created the Pool. The program
// must first call [Main]. In a worker, [Main] does not return. On Linux, a worker locks itself down
// before it reads any data from a guest. [Pool.Report] returns the state of the isolation layers.
package sandbox
