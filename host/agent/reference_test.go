package agent_test

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// The files reference_*test.go contain a second interpreter of agents. It was written from the
// reference documentation of the language. The second interpreter shares no code with the package.
// The generator uses only a part of the language. The second interpreter supports this part.

// refExpr is an expression: a literal ("lit"), a name ("ref"), or an operator that has operands.
type refExpr struct {
	op   string
	lit  any
	ref  string
	args []*refExpr
}

// refText is a message. refText consists of literal text and of names in braces.
type refText []refPiece

type refPiece struct{ text, ref string }

type refVar struct {
	name, typ, reset string
	initial          any
}

type refTrigger struct {
	when, value *refExpr
	target      string
	appends     bool
	unique      bool
	max         int
	ttl         time.Duration
}

type refRecall struct {
	event, domain, prompt string
	paths                 []string
}

type refFail struct {
	respond        refText
	handoff, jump  string
	escalate, stop bool // stop is BLOCK
	retry          bool
	collect        []string
	then           string
}

type refConstraint struct {
	rule       string
	cond, when *refExpr
	before     string // step, calling or returning
	tool       string
	fail       refFail
}

type refSet struct {
	target string
	value  *refExpr
}

type refThen struct{ kind, target string } // kind is "", jump, complete, handoff or escalate

type refAction struct {
	kind          string // set, clear, transform, respond, check, call or gather
	sets          []refSet
	names         []string          // the names that "clear" and "gather" list
	types         map[string]string // the declared types of the fields of "gather"
	model         bool              // true if a model extracts the fields of "gather"
	transform     *refTransform
	text          refText
	cond          *refExpr
	tool          string
	arg           *refExpr
	success, fail *refBody
}

// refTransform creates the list "into" from another list.
type refTransform struct {
	source, filter, limit *refExpr // filter and limit are nil if TRANSFORM does not have them
	as, into, sortBy      string
	descending            bool
	fields                []refSet // of MAP
}

type refBody struct {
	actions []refAction
	then    refThen
}

type refBranch struct {
	cond *refExpr // nil is ELSE
	body refBody
}

// refIntent is an item in SUB_INTENTS or in DIGRESSION.
type refIntent struct {
	phrase string
	resume bool
	body   refBody
}

type refHook struct {
	name     string // before_turn or after_turn
	critical bool
	actions  []refAction
}

type refStep struct {
	name   string
	when   *refExpr
	body   refBody
	inputs []refBranch
	// intents contains first the items of SUB_INTENTS, and then the items of DIGRESSION. subIntents
	// is the number of items in SUB_INTENTS.
	intents     []refIntent
	subIntents  int
	intentModel bool // true if a model recognizes intents
	complete    *refExpr
	max         int // of MAX_ATTEMPTS
	exhausted   string
}

type refAgent struct {
	name        string
	vars        []refVar
	facts       map[string]any // declared paths, with the default of each path
	triggers    []refTrigger
	recalls     []refRecall
	constraints []refConstraint
	start       []refAction
	// sensitive contains the names of the variables and the paths of the facts that the agent
	// declares as sensitive.
	sensitive []string
	hooks     []refHook
	steps     []refStep
}

// refFact is a stored fact.
type refFact struct {
	value   any
	expires time.Time
}

// refWaiting describes what a step waits for, and where the step continues. The step waits for a
// field of GATHER, for input, or for a field that a constraint collects. The field "branch"
// identifies a list of actions in the step. If the list belongs to a branch of ON_INPUT, the value
// of "branch" is the index of this branch. If the list belongs to an intent, the value is
// refIntents plus the index of the intent. For the actions of the step itself, the value is -1. If
// no action has run yet, the field "action" is -1.
type refWaiting struct {
	kind, field    string
	branch, action int
	constraint     int
	remaining      []string
}

// refIntents is the value of refWaiting.branch for a step that waits in its first intent.
const refIntents = 1000

// refReturn describes a step to which the conversation returns. If this step was not waiting, the
// field "wait" is nil.
type refReturn struct {
	step string
	wait *refWaiting
}

// refState is the state of an agent in a session.
type refState struct {
	vars   map[string]any
	step   string
	wait   *refWaiting
	stored map[int]string
	// attempts contains, for each step, the number of attempts since the flow began.
	attempts map[string]int
	returns  []refReturn
}

type refSession struct {
	active   string
	agents   map[string]*refState
	injected map[string]any
}

// refWorld contains all stored data.
type refWorld struct {
	now   time.Time
	facts map[string]refFact // by owner and path
	kept  map[string]map[string]any
	// failedTools is the number of failed tool calls.
	failedTools int
	sessions    map[string]*refSession
}

func (w *refWorld) clone() *refWorld {
	c := &refWorld{now: w.now, facts: maps.Clone(w.facts), kept: map[string]map[string]any{}, sessions: map[string]*refSession{}}
	for key, vars := range w.kept {
		c.kept[key] = maps.Clone(vars)
	}
	for id, s := range w.sessions {
		n := &refSession{s.active, map[string]*refState{}, maps.Clone(s.injected)}
		for name, a := range s.agents {
			st := &refState{maps.Clone(a.vars), a.step, a.wait.clone(), maps.Clone(a.stored), maps.Clone(a.attempts), nil}
			for _, r := range a.returns {
				st.returns = append(st.returns, refReturn{r.step, r.wait.clone()})
			}
			n.agents[name] = st
		}
		c.sessions[id] = n
	}
	return c
}

func (w *refWaiting) clone() *refWaiting {
	if w == nil {
		return nil
	}
	c := *w
	c.remaining = slices.Clone(w.remaining)
	return &c
}

func refOwner(user, path string) string {
	if strings.HasPrefix(path, "project.") {
		return path
	}
	return user + "/" + path
}

// refOutcome is the visible result of a turn.
type refOutcome struct {
	agent, step, collecting, handoff string
	messages                         []string
	instructions                     []string
	done, blocked, escalate          bool
	injected                         map[string]any
}

// refTurn performs one turn on a copy of the stored data.
type refTurn struct {
	w       *refWorld
	agents  map[string]*refAgent
	user    string
	session *refSession
	a       *refAgent
	st      *refState
	kept    map[string]any
	joined  []string
	touched map[string]bool // agents that have changed a variable that is never reset
	message *string
	unread  bool
	result  any
	failure any
	out     refOutcome
	results []bool // for each message, whether the message is a result
	from    int    // index of the first message of the agent
	inStep  int    // index of the first message of the step
	running bool
	excused int
	args    map[string]any // the input of a call, while the constraints on the call are checked
	// itemName and item are the name and the value of the item for which TRANSFORM is evaluating
	// expressions.
	itemName  string
	item      any
	requested string // the field for which the step waited before this turn
	chats     int
	entry     string
	steps     int
	moves     int
	nested    int
	closed    bool // true after the hooks at the end of the turn have run
	retries   map[string]int
	seen      map[string]int // the number of rare events of each kind
	// tool simulates a tool, including its changes to facts.
	tool func(t *refTurn, name string, x any) (any, string)
	// model simulates a model. The argument n is the number of the request.
	model func(n int) modelFate
}

// refFailure is the value with which the interpreter panics to end a turn. The effects of the turn
// are undone.
type refFailure struct{ reason string }

func (t *refTurn) die(reason string) { panic(refFailure{reason}) }
