// Package extract is what strangers upload: which formats are taken, whether a file is what it claims to be, what its
// name may be, and what text it holds.
//
// [Identify] and [CleanName] look at little of a file and run in the host's process. Parsing a whole one does not: the
// parsers are an [Engine], whose guests are the documents, and which is made for cells; see engines.NewDocumentPool.
// A [Reader] asks such an engine for the text. A document that loops, swells or breaks its parser costs its own reading
// and nothing else.
//
// Text is read from PDF, DOCX, TXT and JSON. That of a PDF is what its pages show, in the order in which they show it, with
// form fields and annotations and a form feed between two pages; pictures of text are not read. That of a DOCX is its headers,
// body, footnotes, endnotes and footers, without comments. A file whose text cannot be read has a [Reason].
package extract
