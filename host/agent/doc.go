// Package agent executes agents that are written in the language of package abl. The package
// performs turns, recalls facts when events fire, and checks constraints.
//
// A Set contains the compiled agents of an app. Set.Turn performs one turn with an Env, which
// provides the facts, the variables and the tools of one attempt of a transaction. The package
// itself stores nothing. If the attempt of the transaction does not commit, the turn has no effect.
//
// Set.Fire, Set.Check and Set.Store evaluate the recalls, constraints and triggers of an agent for
// programs that have their own loop of turns.
package agent
