// Package enginetest is the conformance suite of engines.
//
// The suite is independent of languages: a [Behaviour] describes in words what a tool does, an
// engine's test implements each of them in its language, and [Run] checks the runs against the
// contract in package engine. For an engine that runs guests in this process, every case runs
// twice: directly and behind [Pipe], which ensures that only values cross the interface. Engines
// with isolated processes have such a pipe already.
package enginetest
