// Package block implements the kind of stores for blocks. A block is a text about a user. The text
// is included in prompts, or is searched by tools. For each block, a user has one text, and one
// additional text for each agent. A write replaces the whole text. The arguments of the write
// contain the replaced version, so that a write never overwrites an unread change of another
// writer.
package block
