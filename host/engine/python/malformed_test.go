package python_test

import (
	"testing"

	"github.com/toolrun/toolrun/abi"
)

// TestMalformedCallsAreBounded checks that a run can make only a limited number of malformed calls.
// Malformed calls never reach the host.
func TestMalformedCallsAreBounded(t *testing.T) {
	const over = "def main():\n    while True:\n        try:\n            call()\n        except MemoryAccessError:\n            pass"
	runAll(t, []tool{
		{name: "some", code: "def main():\n    n = 0\n    for _ in range(1000):\n        try:\n            memory.get_content(bad=1)\n        except InvalidArgumentError:\n            n += 1\n    return n", want: `1000`},
		{name: "an unknown argument", code: "def call():\n    memory.get_content(bad=1)\n" + over, fault: abi.CallLimit, message: "the limit of 1000 malformed memory calls"},
		{name: "a value that is not JSON", code: "def call():\n    memory.set_content('prefs', {'a': {1}})\n" + over, fault: abi.CallLimit},
		{name: "a message that bypasses the module", code: "import os\nm = b'refuse\\nx\\ninvalid\\n\"a\"'\nwhile True:\n    os.write(0, m)", fault: abi.CallLimit},
		{name: "an unknown operation", code: "import os\nwhile True:\n    os.write(0, b'call\\nnosuch')", fault: abi.CallLimit},
	})
}
