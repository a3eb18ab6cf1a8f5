package pdfium

// Unpack returns the library as its package has it.
var Unpack = unpack
