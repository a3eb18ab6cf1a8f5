// Package enginetest is the suite that every engine passes, in every language.
//
// A suite of behaviours stands between the engines and the languages: a [Behaviour] says in words what a tool
// does, an engine's test writes each of them in its language, and [Run] holds the runs against the contract in
// package engine. Every case of an engine that runs its guests in this process runs twice, once with the engine itself and
// once with the engine behind [Pipe], so that nothing but values crosses the seam. Engines of isolated processes have that
// seam already.
package enginetest
