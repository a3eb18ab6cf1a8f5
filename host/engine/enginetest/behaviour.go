package enginetest

// Behaviour describes what a test tool does. An engine's test implements each behaviour in its
// language. "Answers" means that the tool returns the value.
type Behaviour string

// The behaviours. Stores are those of [Memory]. Every call on the stores "forbidden" and "halt"
// fails.
const (
	// Sum answers {"sum": input.a + input.b}.
	Sum Behaviour = "sum"
	// Echo answers input.value unchanged.
	Echo Behaviour = "echo"
	// Nothing returns nothing.
	Nothing Behaviour = "nothing"
	// Throw raises an error with the message "broken" in line 3 of its source.
	Throw Behaviour = "throw"
	// Print logs "one" as info and "two" as a warning.
	Print Behaviour = "print"
	// Count reads {"n": number} from the store "counter", increments n, writes it back, and answers
	// it. A missing record counts as 0.
	Count Behaviour = "count"
	// Remove deletes the record of the store "counter" and answers the reply.
	Remove Behaviour = "remove"
	// Catch gets "forbidden", catches the error, and answers {"code", "store", "violations"} from it.
	Catch Behaviour = "catch"
	// Uncaught gets "forbidden" in line 3 of its source, and catches nothing.
	Uncaught Behaviour = "uncaught"
	// Fake raises an error of its own that imitates a fault with the code "conflict" as far as the
	// language allows.
	Fake Behaviour = "fake"
	// Halt gets "halt". If the language lets it continue after a failed call (catch, finally, ...),
	// it then gets "after" and loops forever.
	Halt Behaviour = "halt"
	// LogAndGo logs "stop". If the language lets it continue, it then gets "after".
	LogAndGo Behaviour = "log and go"
	// Spin loops forever without a call.
	Spin Behaviour = "spin"
	// Wait gets "slow", which only returns when the run is over.
	Wait Behaviour = "wait"
	// Forget starts a get of "forbidden", does not wait for it, and answers "saved". It is for
	// languages with asynchronous calls.
	Forget Behaviour = "forget"
	// Never waits for a promise that is never settled, without a pending call. It is for languages
	// with promises.
	Never Behaviour = "never"
	// Context sets the key "added" of its context to {"n": 1} and "changed" to 2, and answers context.kept.
	Context Behaviour = "context"
	// Steps sets the key "steps" of its context to {}.
	Steps Behaviour = "steps"
	// NotJSON answers {"items": [1, x]} where x is a number that cannot be represented in JSON.
	NotJSON Behaviour = "not JSON"
	// BadArgument sets "prefs" to {"f": x} where x is a function, catches the error, and answers
	// its code.
	BadArgument Behaviour = "bad argument"
	// Deep answers 200 nested lists.
	Deep Behaviour = "deep"
	// Large answers a string of 100,000 characters.
	Large Behaviour = "large"
	// Recurse calls itself without end.
	Recurse Behaviour = "recurse"
	// Global increments a global variable, which is initially 0, and answers it. If the language
	// has state that all code shares, such as a prototype, the count is kept there too.
	Global Behaviour = "global"
	// Keep stores input.value in a global variable, gets "prefs", and answers the variable.
	Keep Behaviour = "keep"
	// Keywords gets the store "prefs" with the projection {"a": 1}, both passed as keyword
	// arguments.
	Keywords Behaviour = "keywords"
	// Aliases sets the store "prefs" to {"a": 1}, passed as the keyword arguments memory_store_name
	// and content.
	Aliases Behaviour = "aliases"
	// Unknown gets with a keyword argument "nope" and answers the code of the error.
	Unknown Behaviour = "unknown"
	// Added calls memory.probe_content("prefs", {"a": 1}) and answers the reply.
	Added Behaviour = "added operation"
	// Clock answers the time in milliseconds since 1970.
	Clock Behaviour = "clock"
	// Random answers three random numbers.
	Random Behaviour = "random"
	// Import answers the value 42, which it imports from a second file.
	Import Behaviour = "import"
	// Broken is a source with a syntax error in line 3.
	Broken Behaviour = "broken"
)
