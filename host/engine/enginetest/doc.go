// Package enginetest is the conformance suite for engines.
//
// The suite is independent of languages. A [Behaviour] describes what a tool does, and the test of
// an engine implements each Behaviour in its language. Then [Run] checks the engine against the
// contract in package engine. If the engine runs guests in this process, every case runs twice:
// directly and behind a [Pipe]. The Pipe ensures that only values cross the interface. Engines with
// isolated processes already have an equivalent pipe.
package enginetest
