// Package sandbox runs guests in locked-down worker processes. A guest can affect only its own run.
//
// A [Pool] keeps workers and assigns them to runs. The Engines of a Pool implement the same
// interface as in-process engines. Source, input, memory calls, log lines and results cross two
// pipes as frames. The receiver checks the length of a frame before it allocates memory for the
// frame. The parent does not trust the reports of a worker. The parent itself limits time, memory,
// calls and sizes. The parent kills a worker that exceeds its deadline or memory limit. The run of
// a killed worker ends with timeout, memory_limit or stack_limit, and the next run gets a spare
// worker.
//
// A worker is a new process of the program that created the Pool. The program must first call
// [Main], which does not return in a worker. On Linux, a worker locks itself down before it reads
// any data from a guest. [Pool.Report] returns the isolation layers.
package sandbox
