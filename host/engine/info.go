package engine

import "slices"

// Info describes an engine. Info is the only source of the supported languages and file extensions
// for the host, the workers and the command line.
type Info struct {
	// Name identifies the engine, such as "js". Name is unique among the engines of a host.
	Name string
	// Languages contains the languages in which a caller can send source text instead of naming a
	// tool. The default is none.
	Languages []Language
	// Extensions contains the file extensions of the sources that the engine runs, such as ".ts". A
	// tool's folder is searched for sources in the order of Extensions.
	Extensions []string
	// Imports contains the extensions of other files that a source can import. In a worker, the
	// engine can read no other files.
	Imports []string
}

// Language is a programming language in which an engine accepts source text.
type Language struct {
	// Name is the name of the language in requests, in lower case, such as "javascript".
	Name string
	// Title is the display name, such as "JavaScript".
	Title string
	// Extensions contains the file extensions of the language, with at least one element. Source
	// text without a file name gets the first extension.
	Extensions []string
}

// Infos returns the descriptions of the engines, in the same order.
func Infos(engines []Engine) []Info {
	infos := make([]Info, len(engines))
	for i, e := range engines {
		infos[i] = e.Info()
	}
	return infos
}

// Extensions returns the extensions of all sources that the engines in the list run, in the order
// of the list.
func Extensions(table []Info) (all []string) {
	for _, i := range table {
		all = append(all, i.Extensions...)
	}
	return all
}

// Languages returns the languages of the engines in the list, in the order of the list.
func Languages(table []Info) (all []Language) {
	for _, i := range table {
		all = append(all, i.Languages...)
	}
	return all
}

// Readable returns the sorted extensions of all files that workers read for the engines in the
// list. The result includes sources and imported files.
func Readable(table []Info) []string {
	all := Extensions(table)
	for _, i := range table {
		all = append(all, i.Imports...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
