package engine

import "slices"

// Info describes an engine. The host, the workers and the command line use no other list of
// languages and file extensions.
type Info struct {
	// Name is a short name for the engine, such as "js". Two engines of a host must have different
	// names.
	Name string
	// Languages contains the languages in which a caller can send source text instead of the name
	// of a tool. The default is none.
	Languages []Language
	// Extensions contains the extensions of the files that the engine can run, such as ".ts". If a
	// tool is a folder, its sources are searched for in the order of Extensions.
	Extensions []string
	// Imports contains the extensions of further files that the engine reads when a source imports
	// them. An engine in a worker can read only files whose extensions are in Extensions or Imports
	// of the worker's engines.
	Imports []string
}

// Language is a programming language in which an engine accepts source text.
type Language struct {
	// Name is the name of the language in requests, such as "javascript". It is in lower case.
	Name string
	// Title is the name that is displayed to people, such as "JavaScript".
	Title string
	// Extensions contains the file extensions of the language. It is never empty. If source text
	// has no file name, the first of these extensions is used.
	Extensions []string
}

// Infos returns the descriptions of the engines. They are in the same order as the engines.
func Infos(engines []Engine) []Info {
	infos := make([]Info, len(engines))
	for i, e := range engines {
		infos[i] = e.Info()
	}
	return infos
}

// Extensions returns the extensions of all files that the engines can run. They are in the order of
// the engines.
func Extensions(table []Info) (all []string) {
	for _, i := range table {
		all = append(all, i.Extensions...)
	}
	return all
}

// Languages returns the languages of all engines. They are in the order of the engines.
func Languages(table []Info) (all []Language) {
	for _, i := range table {
		all = append(all, i.Languages...)
	}
	return all
}

// Readable returns the extensions of all files that workers read for the engines. They are sorted.
// These files are sources and imported files.
func Readable(table []Info) []string {
	all := Extensions(table)
	for _, i := range table {
		all = append(all, i.Imports...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
