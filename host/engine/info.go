package engine

import "slices"

// Info describes an engine. The host, the workers and the command line take the supported languages
// and file extensions only from here.
type Info struct {
	// Name identifies the engine, such as "js". It is unique among the engines of a host.
	Name string
	// Languages are the languages, among those of Extensions, in which a caller may send source
	// text instead of naming a tool. Default: none.
	Languages []Language
	// Extensions are the file extensions of the sources that the engine runs, such as ".ts". A
	// tool's folder is searched for them in this order.
	Extensions []string
	// Imports are the extensions of other files that a source may import. In a worker, the engine
	// reads no others.
	Imports []string
}

// Language is a programming language in which an engine accepts source text.
type Language struct {
	// Name is the name of the language in requests, in lower case, such as "javascript".
	Name string
	// Title is the display name, such as "JavaScript".
	Title string
	// Extensions are the file extensions of the language, at least one. Source text without a file
	// gets the first one.
	Extensions []string
}

// Infos returns the descriptions of engines, in their order.
func Infos(engines []Engine) []Info {
	infos := make([]Info, len(engines))
	for i, e := range engines {
		infos[i] = e.Info()
	}
	return infos
}

// Extensions returns the extensions of all sources that the engines in a table run, in its order.
func Extensions(table []Info) (all []string) {
	for _, i := range table {
		all = append(all, i.Extensions...)
	}
	return all
}

// Languages returns the languages in a table, in its order.
func Languages(table []Info) (all []Language) {
	for _, i := range table {
		all = append(all, i.Languages...)
	}
	return all
}

// Readable returns the sorted extensions of all files that workers read for the engines in a table:
// sources and imports.
func Readable(table []Info) []string {
	all := Extensions(table)
	for _, i := range table {
		all = append(all, i.Imports...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
