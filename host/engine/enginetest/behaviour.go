package enginetest

// Behaviour identifies a test tool by what the tool does. The test of each engine implements all
// Behaviours in the engine's language.
type Behaviour string

// The test tools have these behaviors. The tools use the stores of a [Memory]. Any call to the
// store "forbidden" or the store "halt" fails.
const (
	// Sum returns {"sum": input.a + input.b}.
	Sum Behaviour = "sum"
	// Echo returns input.value unchanged.
	Echo Behaviour = "echo"
	// Nothing returns nothing.
	Nothing Behaviour = "nothing"
	// Throw raises an error with the message "broken" in line 3 of its source.
	Throw Behaviour = "throw"
	// Print logs the text "one" with the level info, and the text "two" as a warning.
	Print Behaviour = "print"
	// Count reads {"n": number} from the store "counter". Count increments n, writes the record,
	// and returns n. If the record is missing, n is 0.
	Count Behaviour = "count"
	// Remove deletes the record in the store "counter". Remove returns the reply of this operation.
	Remove Behaviour = "remove"
	// Catch reads the store "forbidden" and catches the error. Catch returns {"code", "store",
	// "violations"}, which it reads from the error.
	Catch Behaviour = "catch"
	// Uncaught reads the store "forbidden" in line 3 of its source. Uncaught does not catch the
	// error.
	Uncaught Behaviour = "uncaught"
	// Fake raises an error that resembles a fault with the code "conflict". The resemblance is as
	// close as the language allows.
	Fake Behaviour = "fake"
	// Halt reads the store "halt". In some languages, a tool can continue after a failed call, for
	// example by using catch or finally. In these languages, Halt then reads the store "after" and
	// loops forever.
	Halt Behaviour = "halt"
	// LogAndGo logs the line "stop". If the host ends the run at this line but the language allows
	// the tool to continue, LogAndGo then reads the store "after".
	LogAndGo Behaviour = "log and go"
	// Spin loops forever and makes no call.
	Spin Behaviour = "spin"
	// Wait reads the store "slow". This call returns only when the run is over.
	Wait Behaviour = "wait"
	// Forget starts to read the store "forbidden". Forget does not wait for the result, and returns
	// "saved". Only languages that have asynchronous calls can express Forget.
	Forget Behaviour = "forget"
	// Never waits for a promise that is never settled. No call is pending during this time. Only
	// languages that have promises can express Never.
	Never Behaviour = "never"
	// Context sets two keys of its context: "added" to {"n": 1}, and "changed" to 2. Then it
	// returns the value of the key "kept".
	Context Behaviour = "context"
	// Steps sets the key "steps" of its context to an empty object.
	Steps Behaviour = "steps"
	// NotJSON returns {"items": [1, x]}. The number x cannot be represented in JSON.
	NotJSON Behaviour = "not JSON"
	// BadArgument sets the store "prefs" to {"f": x}. The value x is a function. Then it catches
	// the error and returns the code of this error.
	BadArgument Behaviour = "bad argument"
	// Deep returns lists that are nested 200 levels deep.
	Deep Behaviour = "deep"
	// Large returns a string of 100,000 characters.
	Large Behaviour = "large"
	// Recurse calls itself without end.
	Recurse Behaviour = "recurse"
	// Global increments a global variable and returns its value. The initial value is 0. In some
	// languages, all code shares some state, such as a prototype. In these languages, Global also
	// increments a counter in this state.
	Global Behaviour = "global"
	// Keep stores input.value in a global variable. Keep then reads the store "prefs", and returns
	// the variable.
	Keep Behaviour = "keep"
	// Keywords reads the store "prefs" with the projection {"a": 1}. Keywords passes the store and
	// the projection as keyword arguments.
	Keywords Behaviour = "keywords"
	// Aliases sets the store "prefs" to {"a": 1}. Aliases passes the store as the keyword argument
	// memory_store_name, and the value as the keyword argument content.
	Aliases Behaviour = "aliases"
	// Unknown calls the operation "get" with the keyword argument "nope", which does not exist.
	// Unknown returns the code of the error.
	Unknown Behaviour = "unknown"
	// Added calls memory.probe_content("prefs", {"a": 1}) and returns the reply to this call.
	Added Behaviour = "added operation"
	// Clock returns the current time as a number of milliseconds since 1970.
	Clock Behaviour = "clock"
	// Random returns three random numbers.
	Random Behaviour = "random"
	// Import imports the value 42 from a second file, and returns it.
	Import Behaviour = "import"
	// Broken is a source that has a syntax error in line 3.
	Broken Behaviour = "broken"
)
