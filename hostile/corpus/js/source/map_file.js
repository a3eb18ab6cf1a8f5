// A source map that is a file of the host.
// expect: output 1
return 1;
//# sourceMappingURL=file:///etc/passwd
