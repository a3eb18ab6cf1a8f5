// The environment of the host.
// expect: output {}
return { ...env, ...context.env };
