package agent_test

// collectionRequirements lists the numbered statements of the documentation page on the memory of
// machines. For each statement, it contains the tests that check the statement.
var collectionRequirements = map[string][]string{
	"003-1":  {"host.TestSeedMachines", "host/memory/collection.TestRemember"},
	"003-2":  {"host.TestMachineMemoryIsGoverned", "host.TestMachineFaults"},
	"003-3":  {"host.TestSeedMachines", "host/memory/collection.TestRemember", "host/memory/collection.TestLifetimes"},
	"003-4":  {"host.TestEmbeddingsAreBatched", "host/memory/collection.TestOtherEmbedder"},
	"003-5":  {"host/memory/collection.TestRemember", "host/memory/collection.TestBadArguments", "host/machine.TestProblems"},
	"003-6":  {"host.TestSeedMachines", "host/memory/collection.TestAutoCollections", "host/machine.TestProblems"},
	"003-7":  {"host/memory/collection.TestRemember", "host.TestSeedMachines"},
	"003-8":  {"host/memory/collection.TestScopes", "host/memory/collection.TestAutoCollections", "host.TestSeedMachines"},
	"003-9":  {"host/memory/collection.TestLifetimes"},
	"003-10": {"host.TestSeedMachines", "host/memory/collection.TestBadArguments", "host/memory/collection.TestScopes"},
	"003-11": {"host.TestRecallByVector", "host/search/index.TestModel"},
	"003-12": {"host.TestSeedMachines", "host/memory/collection.TestRemember"},
	"003-13": {"host.TestMachineResults"},
	"003-14": {"host.TestSeedMachines"},
	"003-15": {"host.TestRecallPrecedesRemember", "host.TestSeedMachines"},
	"003-16": {"host.TestSeedMachines", "host.TestConversationsEnd"},
	"003-17": {"host.TestSeedMachines", "host/search/index.TestModel", "host.TestFilterPrecedesSearch"},
	"003-18": {"host/machine.TestProblems", "host.TestMachineFaults", "host.TestMachineMemoryIsGoverned"},
	"003-19": {"cmd/toolrun/testdata/script/test.txtar", "host/engine/js.TestMachineTest"},
	"003-20": {"cmd/toolrun/testdata/script/test.txtar"},
	"003-21": {"cmd/toolrun/testdata/script/test.txtar"},
	"003-22": {"host.TestMachineExpressions", "host.TestSeedMachines"},
	"003-23": {"host.TestSeedMachines"},
}

// badInput lists the kinds of bad input to collections, machines and approvals. For each kind, it
// contains the tests that expect a fault.
var badInput = map[string][]string{
	"an empty query":                        {"host/memory/collection.TestBadArguments"},
	"a limit of 0 or 10,000":                {"host/memory/collection.TestBadArguments", "host/machine.TestProblems"},
	"a threshold of 2":                      {"host/memory/collection.TestBadArguments", "host/machine.TestProblems"},
	"a filter on an object":                 {"host/memory/collection.TestBadArguments"},
	"a namespace of 1 MiB":                  {"host/memory/collection.TestBadArguments", "host.TestHostileNames"},
	"NaN from an embedder":                  {"host/memory/collection.TestBrokenEmbedder", "host.TestEmbeddingFailures"},
	"a vector of another length":            {"host/memory/collection.TestBrokenEmbedder", "host.TestEmbeddingFailures"},
	"a provider that hangs":                 {"host.TestEmbeddingFailures", "host.TestFailingProviderOfMachine"},
	"a provider that sends HTML":            {"host.TestEmbeddingFailures", "host.TestFailingProviderOfMachine"},
	"a provider that limits the rate":       {"host.TestEmbeddingFailures", "host.TestFailingProviderOfMachine"},
	"a provider that streams without end":   {"host.TestEmbeddingFailures", "host.TestFailingProviderOfMachine"},
	"a machine with an unknown step":        {"host.TestMachineFaults", "host/machine.TestProblems"},
	"a machine without a permission":        {"host.TestMachineFaults", "host.TestMachineMemoryIsGoverned"},
	"an approval that is used twice":        {"host.TestApproval", "host.TestConcurrentApprovers"},
	"an approval that another user decides": {"host.TestStolenApproval", "host.TestApprovers"},
	"a poisoned entry":                      {"host.TestPoisonedEntriesStayData", "host.TestPoisonedEntries"},
}
