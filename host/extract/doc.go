// Package extract handles uploaded files: it determines which formats are accepted, whether a file
// has the format that it claims, which names are allowed, and extracts text.
//
// [Identify] and [CleanName] examine little of a file and run in the host's process. The parsers
// are an [Engine], which treats documents as guests and is meant for worker processes; see
// engines.NewDocumentPool. A [Reader] uses such an engine to extract text. A document that makes
// its parser loop, exhaust memory or crash affects only its own extraction.
//
// Text is extracted from PDF, DOCX, TXT and JSON. The text of a PDF is the text of its pages in
// their visible order, with form fields and annotations, and a form feed between pages; images of
// text are not read. The text of a DOCX is its headers, body, footnotes, endnotes and footers,
// without comments. A file without text has a [Reason].
package extract
