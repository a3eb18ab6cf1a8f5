package enginetest

// Behaviour names a tool by what it does. Its text is what an engine's test writes in its language. Where it
// says "answers", the tool returns that value.
type Behaviour string

// The behaviours. Stores are those of [Memory]; "forbidden" and "halt" are stores whose every call fails.
const (
	// Sum answers {"sum": input.a + input.b}.
	Sum Behaviour = "sum"
	// Echo answers input.value as it is.
	Echo Behaviour = "echo"
	// Nothing returns nothing.
	Nothing Behaviour = "nothing"
	// Throw raises an error with the message "broken" in the third line of its source.
	Throw Behaviour = "throw"
	// Print logs "one" as info and "two" as a warning.
	Print Behaviour = "print"
	// Count reads {"n": number} from the store "counter", writes it raised by one, and answers the new n. No
	// record counts as 0.
	Count Behaviour = "count"
	// Remove deletes the record of the store "counter" and answers the reply.
	Remove Behaviour = "remove"
	// Catch gets "forbidden", catches the error, and answers {"code", "store", "violations"} from it.
	Catch Behaviour = "catch"
	// Uncaught gets "forbidden" in the third line of its source, and catches nothing.
	Uncaught Behaviour = "uncaught"
	// Fake raises an error of its own that looks like a fault with the code "conflict" in all that it can set.
	Fake Behaviour = "fake"
	// Halt gets "halt", and wherever its language lets it go on after a failed call (catch, finally, ...) it
	// gets "after" and loops for ever.
	Halt Behaviour = "halt"
	// LogAndGo logs "stop", and wherever its language lets it go on it gets "after".
	LogAndGo Behaviour = "log and go"
	// Spin loops for ever without a call.
	Spin Behaviour = "spin"
	// Wait gets "slow", which answers only when the run is over.
	Wait Behaviour = "wait"
	// Forget starts a get of "forbidden", does not wait for it, and answers "saved". For languages where a call
	// can be left alone.
	Forget Behaviour = "forget"
	// Never waits for what never comes, with no call under way. For languages that have promises.
	Never Behaviour = "never"
	// Context sets the key "added" of its context to {"n": 1} and "changed" to 2, and answers context.kept.
	Context Behaviour = "context"
	// Steps sets the key "steps" of its context to {}.
	Steps Behaviour = "steps"
	// NotJSON answers {"items": [1, x]} where x is a number that the engine refuses to write as JSON.
	NotJSON Behaviour = "not JSON"
	// BadArgument sets "prefs" to {"f": x} where x is a function of the language, catches the error, and answers
	// its code.
	BadArgument Behaviour = "bad argument"
	// Deep answers 200 nested lists.
	Deep Behaviour = "deep"
	// Large answers a text of 100,000 characters.
	Large Behaviour = "large"
	// Recurse calls itself for ever.
	Recurse Behaviour = "recurse"
	// Global raises a global variable of its own, which begins at 0, by one and answers it. Where the language
	// has a way to change what all code shares, such as a prototype, the count is kept there too.
	Global Behaviour = "global"
	// Keep stores input.value in a global variable, gets "prefs", and answers the variable.
	Keep Behaviour = "keep"
	// Keywords gets the store "prefs" with the projection {"a": 1}, both given by name.
	Keywords Behaviour = "keywords"
	// Aliases sets the store "prefs" to {"a": 1}, given by the names memory_store_name and content.
	Aliases Behaviour = "aliases"
	// Unknown gets with an argument that is named "nope" and answers the code of the error.
	Unknown Behaviour = "unknown"
	// Added calls memory.probe_content("prefs", {"a": 1}) and answers the reply.
	Added Behaviour = "added operation"
	// Clock answers the time in milliseconds since 1970.
	Clock Behaviour = "clock"
	// Random answers three random numbers.
	Random Behaviour = "random"
	// Import answers the value 42 that it imports from a second file.
	Import Behaviour = "import"
	// Broken is a source with an error of syntax in its third line.
	Broken Behaviour = "broken"
)
