// Package app reads app files, which declare stores, tools and prompts. The usual name of an app
// file is app.yaml. A tool can also be declared by a manifest (tool.json) in its folder.
//
// [Load] checks the whole declaration. It reports all mistakes at once. Each mistake is a [Problem]
// with file, line, column and a hint. A mistake in a tool or a prompt disables only that tool or
// prompt. If the declaration of a store has a mistake, or if the whole file is invalid, Load
// returns no app. [LoadTool] reads a single tool without an app file. [Export] writes the
// configuration of an app as one document that needs no other files. [Import] and [Load] can read
// this document.
//
// Files are read from an [io/fs.FS]. Its root is the folder of the app. The package rejects a path
// if it leads out of the folder of the app. Callers should pass the file system of an [os.Root],
// which also rejects links that lead out of the folder.
//
// # Where a tool is declared
//
// In the app file, the entry of a tool names a source. The source is a file, or a folder with an
// optional tool.json. If the app file and the tool.json contain the same key, the value in the app
// file is used. Therefore, the grants in a tool.json are only requests. If the app file lists the
// tool without the key "grants", the requested grants take effect. No further permission is needed,
// because the author of the app has decided to list the tool. To reject the requested grants, write
// "grants: {}" in the app file.
//
// # YAML
//
// A file is JSON, or YAML 1.2 that consists of a single document. Anchors, aliases and merge keys
// are supported. The number of values that aliases add is limited. A number keeps the spelling that
// it has in the file. In a schema, a number must also be valid JSON. Numbers such as "0x10", "010"
// and ".inf" are rejected.
package app
