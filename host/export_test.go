package host

// PausedInvocation is the stored form of an Invocation.
type PausedInvocation = pausedInvocation
