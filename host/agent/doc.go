// Package agent executes the turns of conversational agents. The agents are written in the language
// of package abl. During a turn, the package also recalls facts when events fire, and checks
// constraints.
//
// A Set contains the compiled agents of an app. Set.Turn performs one turn with an Env. The Env
// provides the facts, the variables and the tools of one attempt to execute a transaction. The
// package agent itself stores nothing. If the transaction does not commit, the turn has no effect.
//
// Set.Fire, Set.Check and Set.Store are for programs that have their own loop of turns. They
// evaluate the recalls, the constraints and the triggers of an agent.
package agent
