// Package bundle compiles the source of a JavaScript or TypeScript tool into one classic script
// that goja can run. The script contains all imported files.
//
// [Build] detects how the tool declares its entry and wraps the tool in a function. Build bundles
// the result with esbuild, which also rewrites syntax that goja does not support. Build keeps a map
// from positions in the script to positions in the author's files. Build does not run the tool.
//
// This package ensures that neither esbuild nor goja opens a file. The options of esbuild and goja
// are not enough: both would open the file that a sourceMappingURL comment names. esbuild would
// also read tsconfig.json and package.json, and would list a directory for an import with a
// computed name. Therefore a resolver in this package serves all files from engine.Source.Files.
// Before a parser reads a file, the package disables comments that name a source map, and rejects
// imports whose names are computed. The loader rejects access to any file that the resolver does
// not serve.
//
// Sources are untrusted. Parsers are recursive, and the Go runtime ends the process on a stack
// overflow. Therefore a scan before parsing limits the nesting of brackets and the length of
// operator chains. But the scan is not a complete parser, so the sandbox around an engine must be
// secure even if the scan misses a limit.
package bundle
