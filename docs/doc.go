// Package docs tests the documentation. A test executes a page from top to bottom in an empty
// folder, as a reader would, and compares the output of its commands with the output that the page
// shows. A comment before a block describes the block:
//
//	<!-- file: NAME -->        the block is saved as NAME in the page's folder
//	<!-- from: PATH -->        the block is a part of the file PATH of the repository, word for word
//	<!-- output: PATH -->      the block is what the script PATH of the repository prints
//	<!-- not run: REASON -->   the block cannot be executed in a test
//
// Other comments are separate instructions:
//
//	<!-- copy: PATH -->        the folder PATH of the repository is copied to the page's folder
//	<!-- run: COMMAND -->      a command that readers need not see
//
// Blocks of the language console contain commands after "$ ", and each command is followed by its
// output. In the output, "..." matches any text in a line, and a line "..." matches any lines.
// Blocks of the language sh contain commands that must succeed. Blocks of the language json must be
// valid JSON. Blocks without a language are drawings. Every block in another language needs one of
// the comments.
package docs
