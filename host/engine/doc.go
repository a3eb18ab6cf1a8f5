// Package engine is the seam between the host and what runs guest code. Only values cross it: source,
// input, context and limits go in; an outcome, log lines and calls with JSON arguments come out. So the
// same engine runs in the host's process and behind a pipe, and knows nothing of stores, callers or grants.
//
// An [Engine] turns a [Source] into a [Program]; each Run of a Program executes it once in a fresh guest that
// shares no state with any other. Package enginetest is the suite that every engine passes.
package engine
