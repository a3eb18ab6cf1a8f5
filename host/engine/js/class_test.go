package js_test

import (
	"testing"

	"github.com/toolrun/toolrun/abi"
)

// TestFaultOfBrokenErrors runs guests that change the error classes. A fault must still reach the
// host.
func TestFaultOfBrokenErrors(t *testing.T) {
	for _, broken := range []string{
		`Error = function () { throw 1; }; globalThis.MemoryAccessError = class { constructor() { for (;;); } }`,
		`Error = 1`,
		`delete globalThis.Error; delete globalThis.TypeError`,
		`Error = new Proxy(Error, { get() { throw 1; }, construct() { throw 1; } })`,
		`Object.defineProperty(globalThis, 'Error', { get() { throw 1; } })`,
		`Object.freeze(Error.prototype)`,
		`Object.defineProperty(Error.prototype, 'name', { set() { throw 1; } })`,
		`Object.defineProperty(TypeError.prototype, 'constructor', { get() { throw 1; } })`,
		`Object.setPrototypeOf(TypeError.prototype, null)`,
		`Object.setPrototypeOf(TypeError.prototype, new Proxy({}, { get() { throw 1; }, getPrototypeOf() { throw 1; } }))`,
		`Object.setPrototypeOf(MemoryAccessError, function () { throw 1; })`,
		`Object.setPrototypeOf(MemoryAccessError.prototype, null); Object.freeze(MemoryAccessError.prototype)`,
		`for (const name of ['message', 'code']) Object.defineProperty(MemoryAccessError.prototype, name, { set() { throw 1; } })`,
		`for (const name of ['op', 'hint', 'MemoryAccessError', 'prototype']) Object.defineProperty(Object.prototype, name, { get() { throw 1; }, set() { throw 1; } })`,
		`Array.prototype[Symbol.iterator] = null; Object.freeze(Array.prototype)`,
	} {
		if f := faultOf(t, broken+`; await memory.get_content('forbidden');`); f.Code != abi.AccessDenied {
			t.Errorf("Run(%s) = %v; want access_denied", broken, f)
		}
	}
}

// TestClassOfFault checks the error that a guest receives for a fault. It must be an instance of
// MemoryAccessError and of Error, even if the guest has replaced Error.
func TestClassOfFault(t *testing.T) {
	const look = `
		const caught = await memory.get_content('forbidden').catch((e) => e);
		const own = new MemoryAccessError(caught.message, caught);
		const show = (e) => JSON.stringify(Object.entries(Object.getOwnPropertyDescriptors(e)).filter(([name]) => name !== 'stack'));
		return [caught instanceof MemoryAccessError, caught instanceof Was, caught instanceof TypeError, own instanceof Was, show(caught) === show(own),
			String(caught), Object.keys(caught).join(), class extends MemoryAccessError {}.name,
			new (class Mine extends MemoryAccessError {})('m', { code: 'c' }) instanceof Was, 'message' in new MemoryAccessError(), Object.hasOwn(new MemoryAccessError(), 'message')];`
	const want = `[true,true,false,true,true,"MemoryAccessError: the tool may not read forbidden","code,op,store,item,violations,hint","",true,true,false]`
	for _, before := range []string{`const Was = Error;`, `const Was = Error; Error = null;`, `const Was = Error; Error = class {};`} {
		if got := answer(t, before+look); got != want {
			t.Errorf("%s\n = %s\n want %s", before, got, want)
		}
	}
}
