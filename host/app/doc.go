// Package app reads declarations of apps from files. An app file (app.yaml) declares stores, tools
// and prompts. A manifest (tool.json) in the folder of a tool can also declare that tool.
//
// [Load] checks the whole declaration and reports all mistakes at once, each as a [Problem] with
// file, line, column and a hint. A mistake in a tool or a prompt disables only that tool or prompt.
// If there is a mistake in a store, or in the file as a whole, Load returns no app. [LoadTool]
// reads a single tool without an app file. [Export] writes the configuration of an app as one
// self-contained document, which [Import] and [Load] can read.
//
// Files are read from an [io/fs.FS] whose root is the app's folder. The package rejects paths that
// lead out of this folder. Callers should pass the file system of an [os.Root], which also rejects
// links that lead out of the folder.
//
// # Where a tool is declared
//
// The entry of a tool in the app file names a source: a file, or a folder with an optional
// tool.json. If both files declare the same key, the value in the app file is used. A grant in a
// tool.json is therefore only a request. The grants of a tool.json take effect if the app file
// lists the tool without the key grants. Such grants need no further permission, because the author
// of the app has chosen to add the folder. To reject the request, write "grants: {}" in the app
// file.
//
// # YAML
//
// Files are YAML 1.2 with a single document, or JSON. Anchors, aliases and merge keys are
// supported, but their expansion is limited. The literals of numbers are preserved. In schemas,
// number literals that are not valid JSON (0x10, 010, .inf) are rejected.
package app
