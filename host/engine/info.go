package engine

import "slices"

// Info describes an engine. The host, the workers and the command line take from it which languages and files there are,
// so that nothing else names them.
type Info struct {
	// Name identifies the engine, such as "js". It is unique among the engines of a host.
	Name string
	// Languages are the languages of Extensions that a caller may send as text, instead of naming a tool. Default: none.
	Languages []Language
	// Extensions are the file extensions of the sources that the engine runs, such as ".ts". The folder of a tool is searched
	// for them in this order.
	Extensions []string
	// Imports are the extensions of further files that a source may import. The engine reads no others in a worker.
	Imports []string
}

// Language is a programming language in which an engine takes source text.
type Language struct {
	// Name is how requests name the language, in lower case, such as "javascript".
	Name string
	// Title is the name for people, such as "JavaScript".
	Title string
	// Extensions are the extensions of files in this language, at least one. Text that has no file gets the first one.
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

// Extensions returns the extensions of all sources that the engines of a table run, in its order.
func Extensions(table []Info) (all []string) {
	for _, i := range table {
		all = append(all, i.Extensions...)
	}
	return all
}

// Languages returns the languages of a table, in its order.
func Languages(table []Info) (all []Language) {
	for _, i := range table {
		all = append(all, i.Languages...)
	}
	return all
}

// Readable returns the extensions of all files that workers read for the engines of a table: sources and what they import.
func Readable(table []Info) []string {
	all := Extensions(table)
	for _, i := range table {
		all = append(all, i.Imports...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
