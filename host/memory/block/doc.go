// Package block implements blocks, which are a kind of store. The content of a block is a text
// about a user. Prompts can include the text, and tools can search the text. In each block, a user
// has one text and, for each agent, one additional text. A write replaces the whole text. A write
// must state the version that it replaces. Therefore a write never overwrites a change that its
// writer has not read.
package block
