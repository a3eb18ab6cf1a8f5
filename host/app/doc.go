// Package app reads declarations of apps: the memory stores, tools and prompts in an app file
// (app.yaml) and in the manifests (tool.json) of tool folders.
//
// [Load] checks the whole declaration and reports all mistakes at once, each as a [Problem] with
// file, line, column and a hint. A mistake in a tool or a prompt disables only that one. With a
// mistake in a store, or in the file as a whole, there is no app. [LoadTool] reads one tool without
// an app. [Export] writes an app's configuration as one self-contained document that [Import] and
// [Load] can read.
//
// Files are read through an [io/fs.FS] that is rooted at the app's folder. Callers should pass the
// file system of an [os.Root], which rejects links that leave the folder, as this package rejects
// such paths.
//
// # Where a tool is declared
//
// An entry under tools names its source: a file, or a folder whose tool.json may declare the tool
// itself. If both declare a key, the app file wins, key by key. So a grant in a tool.json is only a
// request. It takes effect if the app file lists the tool without grants, since the app's author
// chose to add the folder. "grants: {}" in the app file rejects it.
//
// # YAML
//
// The files are YAML 1.2 with one document, or JSON. Anchors, aliases and merge keys are supported
// and bounded. Numbers keep their literals. Literals that are not valid JSON (0x10, 010, .inf) are
// rejected in schemas.
package app
