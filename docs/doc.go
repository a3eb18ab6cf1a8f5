// Package docs tests the documentation. A test executes a page in an empty folder, from top to
// bottom, like a reader of the page. The output of each command must match the output that the page
// shows. A comment directly before a block describes this block:
//
//	<!-- file: NAME -->        the block is saved as NAME in the page's folder
//	<!-- from: PATH -->        the block is a part of the file PATH of the repository, word for word
//	<!-- output: PATH -->      the block is what the script PATH of the repository prints
//	<!-- not run: REASON -->   the block cannot be executed in a test
//
// The following comments are instructions that have no block:
//
//	<!-- copy: PATH -->        the folder PATH of the repository is copied to the page's folder
//	<!-- run: COMMAND -->      a command that readers need not see
//
// Blocks of the language console contain commands after "$ ", and each command is followed by its
// output. Within a line of the output, "..." matches any text. If a whole line is "...", it matches
// any number of lines. Blocks of the language sh contain commands that must succeed. Blocks of the
// language json must be valid JSON. A block without a language is a drawing. Every block in any
// other language needs a comment that describes it.
package docs
