// Package sandbox is the process wall: engines that run each guest in a locked-down worker process, a worker, so that
// whatever a guest does costs its own run and nothing else.
//
// A [Pool] keeps workers and gives them to runs; its Engines are like those in process, and a host cannot tell them
// apart. Source, input, memory calls, log lines and answers cross two pipes as frames, whose lengths are checked
// before anything is allocated. What a worker says of itself is not trusted: time, memory, calls and sizes are
// bounded by the parent. A worker over its deadline or its memory is killed, its run ends in timeout, memory_limit or
// stack_limit, and the next run gets a warm spare.
//
// The program that makes a Pool is also what its workers run: it calls [Main] first of all, which does not return in
// a worker. On Linux a worker locks itself down before it reads a byte of a guest's; [Pool.Report] says with what.
package sandbox
