// Package docs tests the documentation. A page is executed from top to bottom in an empty folder,
// as a reader would follow it, and what its commands print is compared with what it shows. Comments
// before a block say what the block is:
//
//	<!-- file: NAME -->        the block is saved as NAME in the page's folder
//	<!-- from: PATH -->        the block is a part of the file PATH of the repository, word for word
//	<!-- output: PATH -->      the block is what the script PATH of the repository prints
//	<!-- not run: REASON -->   the block cannot be executed in a test
//
// Other comments are instructions of their own:
//
//	<!-- copy: PATH -->        the folder PATH of the repository is copied to the page's folder
//	<!-- run: COMMAND -->      a command that readers need not see
//
// Blocks of the language console hold commands after "$ ", each with its output; "..." stands for
// any text in a line, and as a line for any lines. Blocks of the language sh hold commands that
// have to succeed. Blocks of the language json have to be JSON, and blocks without a language are
// drawings. Every other block needs one of the comments.
package docs
