// Package pdfium reads the text of PDF files with PDFium, the PDF library of Chromium, compiled to WebAssembly.
//
// The library is C++ and its input comes from strangers: it runs as a guest on wazero, in a fresh instance for each
// document, with bounds on memory and on instructions. What a document makes of the instance ends with it.
package pdfium
