// Package enginetest is the conformance suite for engines.
//
// The suite is independent of languages. A [Behaviour] describes what a tool does. The test of an
// engine implements all Behaviours in the language of the engine. Then [Run] checks that the engine
// fulfils the contract in package engine. If the engine runs guests in this process, each case is
// executed twice: directly, and through a [Pipe]. The Pipe ensures that only values are passed
// through the interface. Engines with isolated processes already have such a pipe.
package enginetest
