package enginetest

// Behaviour identifies what a test tool does. The test of each engine implements every Behaviour in
// the engine's language.
type Behaviour string

// The behaviors of the test tools. The tools use the stores of a [Memory]. Every call to the stores
// "forbidden" and "halt" fails.
const (
	// Sum returns {"sum": input.a + input.b}.
	Sum Behaviour = "sum"
	// Echo returns input.value unchanged.
	Echo Behaviour = "echo"
	// Nothing returns nothing.
	Nothing Behaviour = "nothing"
	// Throw raises an error with the message "broken" in line 3 of its source.
	Throw Behaviour = "throw"
	// Print logs "one" as info and "two" as a warning.
	Print Behaviour = "print"
	// Count reads {"n": number} from the store "counter", increments n, writes the record back, and
	// returns n. A missing record counts as 0.
	Count Behaviour = "count"
	// Remove deletes the record of the store "counter" and returns the reply.
	Remove Behaviour = "remove"
	// Catch reads the store "forbidden", catches the error, and returns {"code", "store",
	// "violations"} of the error.
	Catch Behaviour = "catch"
	// Uncaught reads the store "forbidden" in line 3 of its source and does not catch the error.
	Uncaught Behaviour = "uncaught"
	// Fake raises an error that imitates a fault with the code "conflict" as closely as the language
	// allows.
	Fake Behaviour = "fake"
	// Halt reads the store "halt". In languages in which a tool can continue after a failed call,
	// for example with catch or finally, Halt then reads the store "after" and loops forever.
	Halt Behaviour = "halt"
	// LogAndGo logs "stop". If a tool in the language can continue after the log line, LogAndGo
	// reads the store "after".
	LogAndGo Behaviour = "log and go"
	// Spin loops forever without a call.
	Spin Behaviour = "spin"
	// Wait reads the store "slow". The call to "slow" returns only when the run is over.
	Wait Behaviour = "wait"
	// Forget starts a read of the store "forbidden", does not wait for the result, and returns
	// "saved". The behavior Forget requires a language with asynchronous calls.
	Forget Behaviour = "forget"
	// Never waits for a promise that is never settled, while no call is pending. The behavior Never
	// requires a language with promises.
	Never Behaviour = "never"
	// Context sets the key "added" of its context to {"n": 1} and the key "changed" to 2. Context
	// returns the value of the key "kept".
	Context Behaviour = "context"
	// Steps sets the key "steps" of its context to {}.
	Steps Behaviour = "steps"
	// NotJSON returns {"items": [1, x]}, where x is a number that cannot be represented in JSON.
	NotJSON Behaviour = "not JSON"
	// BadArgument sets the store "prefs" to {"f": x}, where x is a function. BadArgument catches
	// the error and returns the code of the error.
	BadArgument Behaviour = "bad argument"
	// Deep returns 200 nested lists.
	Deep Behaviour = "deep"
	// Large returns a string of 100,000 characters.
	Large Behaviour = "large"
	// Recurse calls itself without end.
	Recurse Behaviour = "recurse"
	// Global increments a global variable, which is initially 0, and returns the value of the
	// variable. If the language has state that all code shares, such as a prototype, Global also
	// increments a counter in the shared state.
	Global Behaviour = "global"
	// Keep stores input.value in a global variable, reads the store "prefs", and returns the
	// variable.
	Keep Behaviour = "keep"
	// Keywords reads the store "prefs" with the projection {"a": 1}. The store and the projection
	// are keyword arguments.
	Keywords Behaviour = "keywords"
	// Aliases sets the store "prefs" to {"a": 1}. The store is the keyword argument
	// memory_store_name, and the value is the keyword argument content.
	Aliases Behaviour = "aliases"
	// Unknown calls get with an unknown keyword argument "nope" and returns the code of the error.
	Unknown Behaviour = "unknown"
	// Added calls memory.probe_content("prefs", {"a": 1}) and returns the reply.
	Added Behaviour = "added operation"
	// Clock returns the time in milliseconds since 1970.
	Clock Behaviour = "clock"
	// Random returns three random numbers.
	Random Behaviour = "random"
	// Import returns the value 42, which it imports from a second file.
	Import Behaviour = "import"
	// Broken is a source with a syntax error in line 3.
	Broken Behaviour = "broken"
)
