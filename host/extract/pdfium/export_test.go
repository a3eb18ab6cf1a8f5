package pdfium

// Unpack returns the library as its npm package contains it.
var Unpack = unpack
