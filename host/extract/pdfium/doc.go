// Package pdfium extracts the text of PDF files with PDFium, the PDF library of Chromium, compiled
// to WebAssembly.
//
// The library is C++ and its input is untrusted. It therefore runs as a guest on wazero, in a fresh
// instance for each document, with limits on memory and instructions. A document cannot affect
// later instances.
package pdfium
