// Package corpus holds hostile tools: guests that attack the host that runs them, and the files, schemas and inputs
// that come with them. Each [Case] attacks one mechanism and says what the host must answer. No two differ in a
// constant alone.
//
// A case that is JavaScript or Python is a file under js or py, whose first comment says what it attacks; one of several
// files is an archive under py or app. A WebAssembly module, and whatever is too large or too odd to be read as text, is
// made by a function here.
package corpus
