// A source map that moves the place of an error into a file of the host.
// expect: tool_error
throw new Error("where?");
//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbIi9ldGMvcGFzc3dkIl0sIm1hcHBpbmdzIjoiQUFBQSIsIm5hbWVzIjpbXX0=
