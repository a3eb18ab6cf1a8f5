// Package sandbox runs guests in locked-down worker processes. Whatever a guest does affects only
// its own run.
//
// A [Pool] keeps workers and assigns them to runs. Its Engines implement the same interface as
// engines in process. Source, input, memory calls, log lines and results cross two pipes as frames,
// and the length of a frame is checked before memory is allocated for it. The parent does not trust
// what a worker reports: it limits time, memory, calls and sizes itself. A worker that exceeds its
// deadline or memory is killed. Its run ends with timeout, memory_limit or stack_limit, and the
// next run gets a spare worker.
//
// A worker is a new process of the program that made the Pool. The program calls [Main] first,
// which does not return in a worker. On Linux a worker locks itself down before it reads any data
// of a guest; [Pool.Report] returns the layers of isolation.
package sandbox
