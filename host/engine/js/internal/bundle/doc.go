// Package bundle compiles the source of a JavaScript or TypeScript tool into one classic script
// that goja can run. The script contains all imported files.
//
// [Build] detects how the tool declares its entry and wraps the tool in a function. Build bundles
// the result with esbuild, which also rewrites syntax that goja does not support. Build keeps a map
// from positions in the script to positions in the author's files. Build does not run the tool.
//
// Neither esbuild nor goja ever opens a file. The options of esbuild and goja cannot prevent all
// file access. Both esbuild and goja follow a sourceMappingURL. esbuild reads tsconfig.json and
// package.json, and lists directories for an import with a computed name. Therefore a resolver in
// this package serves all files from engine.Source.Files. Before a parser reads a file, comments
// that name a source map are disabled, and imports with a computed name are rejected. The loader
// rejects all access to files that the resolver does not serve.
//
// Sources are untrusted. Parsers are recursive, and the Go runtime ends the process on a stack
// overflow. Before parsing, a scan therefore limits the nesting of brackets and the length of
// operator chains. The scan is not a complete parser. The sandbox around an engine must be secure
// without the scan.
package bundle
