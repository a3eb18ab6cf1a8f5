// Package block implements the kind of stores for blocks. A block is a text about a user that goes
// into prompts or is searched. A user has one text per block, and one more for each agent. A write
// replaces the whole text and names the version that it replaces, so no change of another writer is
// lost.
package block
