package main

// wall says whether toolrun runs guests in processes of their own. Until it does, the cases that nothing else stops
// are left out of the tests: they kill or hang the host.
const wall = false
