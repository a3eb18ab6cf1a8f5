// Package app reads what an app declares: its memory stores, its tools and its prompts, written in an app
// file (app.yaml) and in the manifests (tool.json) of tool folders.
//
// [Load] checks the whole declaration and reports every mistake at once, each as a [Problem] with file, line,
// column and a hint. A mistake in a tool or a prompt stops only that one; a mistake in a store, or in the
// file as a whole, leaves no app to use. [LoadTool] reads one tool without an app. [Export] writes an app's
// configuration as one self-contained document that [Import] and [Load] read back.
//
// Everything is read through an [io/fs.FS] that is rooted at the app's folder. Callers give the file system
// of an [os.Root], which refuses links that leave the folder, as this package refuses paths that do.
//
// # Where a tool is declared
//
// An entry under tools names its source: a file, or a folder whose tool.json may declare the tool itself. Where
// both declare a key, the app file wins, key by key: whoever writes the app file decides. So a grant in a
// tool.json is a request. It holds where the app file lists the tool without grants of its own, since the
// app's author put the folder there and named it; "grants: {}" in the app file refuses it.
//
// # YAML
//
// The files are YAML 1.2 with one document, or JSON. Anchors, aliases and merge keys work and are bounded.
// Numbers keep their literals; those that JSON does not know (0x10, 010, .inf) are refused in schemas.
package app
