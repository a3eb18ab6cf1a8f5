// Package block implements the kind of stores for blocks. A block is a text about a user. A block
// is included in prompts, or is searched. For each block, a user has one text, and one additional
// text for each agent. A write replaces the whole text and contains the version that it replaces,
// so no change of another writer is lost.
package block
