// Package app reads declarations of apps from files. An app file (app.yaml) declares stores, tools
// and prompts. A manifest (tool.json) in the folder of a tool can also declare the tool.
//
// [Load] checks the whole declaration and reports all mistakes at once, each as a [Problem] with
// file, line, column and a hint. A mistake in a tool or a prompt disables only that tool or prompt.
// If the declaration of a store has a mistake, or the file as a whole is invalid, Load returns no
// app. [LoadTool] reads a single tool without an app file. [Export] writes the configuration of an
// app as one self-contained document, which [Import] and [Load] can read.
//
// Files are read from an [io/fs.FS] whose root is the folder of the app. The package rejects paths
// that lead out of the folder of the app. Callers should pass the file system of an [os.Root],
// which also rejects links that lead out of the folder.
//
// # Where a tool is declared
//
// The entry of a tool in the app file names a source: a file, or a folder with an optional
// tool.json. If both files declare the same key, the value in the app file is used. The grants in a
// tool.json are therefore only requests. These grants take effect if the app file lists the tool
// without the key "grants". No further permission is needed, because the author of the app has
// chosen to add the folder. To reject the requested grants, write "grants: {}" in the app file.
//
// # YAML
//
// Files are YAML 1.2 with a single document, or JSON. Anchors, aliases and merge keys are
// supported, but their expansion is limited. The package preserves the literals of numbers. In
// schemas, the package rejects number literals that are not valid JSON, such as "0x10", "010" and
// ".inf".
package app
