// Package agent executes agents that are written in the language of package abl: it performs turns,
// recalls facts at events, and checks constraints.
//
// A Set contains the compiled agents of an app. Set.Turn performs one turn over an Env, which is the
// memory and the tools of one attempt of a transaction. The package stores nothing itself: if the
// attempt does not commit, the turn has had no effect.
package agent
