package agent_test

// ruleCases are the blocks about facts, triggers and recalls of the page about memory and state.
var ruleCases = []seedCase{}
