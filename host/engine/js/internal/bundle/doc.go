// Package bundle compiles the source of a JavaScript or TypeScript tool, with all its imports, into
// one classic script that goja can run.
//
// [Build] detects the form in which the tool is written, wraps it in a function, bundles it with
// esbuild, lowers syntax that goja does not support, and keeps a map from positions in the script
// to the author's files. It does not run the tool.
//
// Neither esbuild nor goja ever opens a file. Both would, in more ways than their options cover:
// they follow a sourceMappingURL, and esbuild reads tsconfig.json and package.json and lists
// directories for an import with a computed name. Therefore a resolver of this package serves all
// files from engine.Source.Files, comments that name a source map are disabled before a parser
// reads them, and imports with a computed name are rejected. The loader rejects anything else.
//
// Sources are untrusted. Parsers recurse, and the Go runtime ends the process on a stack overflow,
// so a scan first bounds the nesting of brackets and the length of operator chains. The scan is not
// a parser; the sandbox around an engine must hold without it.
package bundle
