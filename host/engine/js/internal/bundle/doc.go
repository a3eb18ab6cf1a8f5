// Package bundle turns the source of a JavaScript or TypeScript tool, with everything that it imports, into one
// classic script that goja can run.
//
// [Build] finds out in which form the tool is written, wraps it into a function, bundles it with esbuild, lowers
// what goja does not know, and keeps the way back from a place in the script to the author's file, line and
// column. It runs none of the tool.
//
// Neither esbuild nor goja ever opens a file for it. Both would, in more ways than their options tell: goja and
// esbuild follow a sourceMappingURL, esbuild looks up tsconfig.json and package.json, and it lists directories
// for an import whose name is computed. So all files come from engine.Source.Files through a resolver of this
// package, source map comments are made harmless before a parser sees them, and imports with a computed name
// are refused. Anything that slips through ends in a loader that refuses it.
//
// Sources are strangers' text. Parsers recurse, and the Go runtime ends the process when a stack is full, so a
// scan of the brackets and of the chains of operators comes first. The scan is no parser; the process wall
// around an engine must hold without it.
package bundle
