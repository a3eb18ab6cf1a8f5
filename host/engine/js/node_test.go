package js_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest"
)

// TestBuffer compares the results of Buffer with the results in Node.js 20.
func TestBuffer(t *testing.T) {
	for code, want := range map[string]string{
		`[typeof Buffer, Buffer === require("buffer").Buffer, Buffer === require("node:buffer").Buffer, Buffer.name]`:                                                                                      `["function",true,true,"Buffer"]`,
		`Buffer.from("hé€😀").toString("base64")`:                                                                                                                                                           `"aMOp4oKs8J+YgA=="`,
		`Buffer.from("hé€😀", "utf8").toString("base64url")`:                                                                                                                                                `"aMOp4oKs8J-YgA"`,
		`Buffer.from("aMOp4oKs8J-YgA", "base64").toString()`:                                                                                                                                               `"hé€😀"`,
		`Buffer.from(" aM Op=ignored", "base64").toString("hex")`:                                                                                                                                          `"68c3a9"`,
		`[Buffer.from("00ffZZ11", "hex").toString("hex"), Buffer.from("abc", "hex").length]`:                                                                                                               `["00ff",1]`,
		`[Buffer.from("é€", "latin1"), Buffer.from([0xe9, 0x41]).toString("latin1"), Buffer.from([0xe9]).toString("ascii")]`:                                                                               `[{"type":"Buffer","data":[233,172]},"éA","i"]`,
		`[Buffer.from("a€", "utf16le").toString("hex"), Buffer.from("6100ac20", "hex").toString("ucs2")]`:                                                                                                  `["6100ac20","a€"]`,
		`Buffer.from([0xe2, 0x82, 0x41, 0xff, 0xf0, 0x9f, 0x98]).toString()`:                                                                                                                               "\"\ufffdA\ufffd\ufffd\"",
		`[Buffer.alloc(3), Buffer.alloc(5, "ab").toString(), Buffer.alloc(2, 7)[1], Buffer.allocUnsafe(4).length]`:                                                                                         `[{"type":"Buffer","data":[0,0,0]},"ababa",7,4]`,
		`[Buffer.concat([Buffer.from("a"), new Uint8Array([98])]).toString(), Buffer.concat([Buffer.from("abc")], 5).length, Buffer.concat([]).length]`:                                                    `["ab",5,0]`,
		`[Buffer.isBuffer(Buffer.alloc(1)), Buffer.isBuffer(new Uint8Array(1)), Buffer.isEncoding("HEX"), Buffer.isEncoding("x")]`:                                                                         `[true,false,true,false]`,
		`[Buffer.byteLength("é€"), Buffer.byteLength("é", "latin1"), Buffer.byteLength(new ArrayBuffer(9))]`:                                                                                               `[5,1,9]`,
		`[Buffer.from("abc").equals(Buffer.from("abc")), Buffer.compare(Buffer.from("a"), Buffer.from("b")), Buffer.from("b").compare(Buffer.from("a"))]`:                                                  `[true,-1,1]`,
		`(() => { const b = Buffer.from("hello"); const s = b.slice(1, -1); s[0] = 69; return [b.toString(), s.toString(), b.subarray(-2).toString(), s instanceof Buffer, b instanceof Uint8Array]; })()`: `["hEllo","Ell","lo",true,true]`,
		`(() => { const b = Buffer.alloc(16); b.writeUInt32BE(0xdeadbeef, 0); b.writeInt16LE(-2, 4); b.writeDoubleBE(1.5, 8);
			return [b.readUInt32BE(0), b.readUInt32LE(0), b.readInt16LE(4), b.readDoubleBE(8), b.readUInt8(3), b.toString("hex"), b.readUIntBE(0, 3), b.readIntLE(4, 2), b.readUint16BE(0)]; })()`: `[3735928559,4022250974,-2,1.5,239,"deadbeeffeff00003ff8000000000000",14593470,-2,57005]`,
		`(() => { const b = Buffer.alloc(8); b.writeBigUInt64BE(1n, 0); return [b.readBigUInt64BE(0) === 1n, b.writeUIntBE(0x123456, 0, 3), b.toString("hex")]; })()`:                                    `[true,3,"1234560000000001"]`,
		`[Buffer.from("abcabc").indexOf("c"), Buffer.from("abcabc").lastIndexOf("c"), Buffer.from("abc").includes("bc"), Buffer.from("abc").indexOf(99), Buffer.from("abc").indexOf("x")]`:               `[2,5,true,2,-1]`,
		`(() => { const b = Buffer.alloc(6, "."); return [b.write("é€"), b.toString(), b.write("abc", 4), Buffer.alloc(2).write("€"), Buffer.from("xyz").copy(b, 1), b.toString("latin1", 0, 4)]; })()`:  `[5,"é€.",2,0,3,"Ãxyz"]`,
		`[JSON.stringify(Buffer.from("a")), Buffer.from(JSON.parse(JSON.stringify(Buffer.from("hi")))).toString(), [...Buffer.from("ab")], Buffer.from(new String("s")).toString()]`:                     `["{\"type\":\"Buffer\",\"data\":[97]}","hi",[97,98],"s"]`,
		`[String(new Buffer("YQ==", "base64")), Buffer("x").length, new Buffer(2).length, Buffer.from(new Uint16Array([1, 258])).toString("hex"), Buffer.from(new Uint8Array([1, 2]).buffer, 1).length]`: `["a",1,2,"0102",1]`,
		`Buffer.from("abc").map((b) => b + 1).toString()`:     `"bcd"`,
		`Buffer.from("0102", "hex").swap16().toString("hex")`: `"0201"`,
		`[() => Buffer.from(5), () => Buffer.from(undefined), () => Buffer.from("a", "nope"), () => Buffer.alloc("1"), () => Buffer.alloc(1).readUInt8(1), () => Buffer.alloc(1).writeUInt8(256), () => Buffer.alloc(1).readUInt16LE()].map((f) => { try { return f(); } catch (e) { return [e.name, e.code, e.message]; } })`: `[` +
			`["TypeError","ERR_INVALID_ARG_TYPE","The first argument must be of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object. Received type number (5)"],` +
			`["TypeError","ERR_INVALID_ARG_TYPE","The first argument must be of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object. Received undefined"],` +
			`["TypeError","ERR_UNKNOWN_ENCODING","Unknown encoding: nope"],` +
			`["TypeError","ERR_INVALID_ARG_TYPE","The \"size\" argument must be of type number. Received type string ('1')"],` +
			`["RangeError","ERR_OUT_OF_RANGE","The value of \"offset\" is out of range. It must be >= 0 and <= 0. Received 1"],` +
			`["RangeError","ERR_OUT_OF_RANGE","The value of \"value\" is out of range. It must be >= 0 and <= 255. Received 256"],` +
			`["RangeError","ERR_BUFFER_OUT_OF_BOUNDS","Attempt to access memory outside buffer bounds"]]`,
	} {
		if got := answer(t, "return ("+code+");"); got != want {
			t.Errorf("%s\n = %s\n want %s", code, got, want)
		}
	}
}

func TestNodeCrypto(t *testing.T) {
	for code, want := range map[string]string{
		`["md5", "sha1", "SHA256", "sha384", "sha512", "RSA-SHA1"].map((h) => crypto.createHash(h).update("a").update(Buffer.from("bc")).digest("hex").slice(0, 12))`:                                                                                                                                                                           `["900150983cd2","a9993e364706","ba7816bf8f01","cb00753f45a3","ddaf35a19361","a9993e364706"]`,
		`[crypto.createHmac("sha256", "key").update("The quick brown fox jumps over the lazy dog").digest("hex"), crypto.createHmac("md5", Buffer.from("k")).update("é", "utf8").digest("base64")]`:                                                                                                                                             `["f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8","dF+Y/POQlr461njcfjUBtQ=="]`,
		`(() => { const h = crypto.createHash("sha1").update("a"); const c = h.copy(); return [h.update("b").digest("hex") === crypto.createHash("sha1").update("ab").digest("hex"), c.digest().length, Buffer.isBuffer(crypto.createHash("md5").digest())]; })()`:                                                                              `[true,20,true]`,
		`[crypto.randomBytes(8).length, crypto.randomBytes(4).toString("hex").length, /^[0-9a-f-]{36}$/.test(crypto.randomUUID()), crypto.randomInt(5) < 5]`:                                                                                                                                                                                    `[8,8,true,true]`,
		`[crypto.timingSafeEqual(Buffer.from("a"), Buffer.from("a")), crypto.timingSafeEqual(Buffer.from("a"), Buffer.from("b"))]`:                                                                                                                                                                                                              `[true,false]`,
		`[() => crypto.createHash("nope"), () => crypto.createHmac("nope", ""), () => crypto.createHash("md5").update(1), () => crypto.timingSafeEqual(Buffer.alloc(1), Buffer.alloc(2)), () => { const h = crypto.createHash("md5"); h.digest(); h.digest(); }].map((f) => { try { return f(); } catch (e) { return [e.name, e.message]; } })`: `[["Error","Digest method not supported"],["Error","Invalid digest: nope"],["TypeError","The \"data\" argument must be of type string or an instance of Buffer, TypedArray, or DataView. Received type number (1)"],["RangeError","Input buffers must have the same byte length"],["Error","Digest already called"]]`,
		`typeof crypto.webcrypto.getRandomValues`: `"function"`,
	} {
		for _, module := range []string{"crypto", "node:crypto"} {
			if got := answer(t, `const crypto = require("`+module+`"); return (`+code+");"); got != want {
				t.Errorf("%s\n = %s\n want %s", code, got, want)
			}
		}
	}
	got := answer(t, `import { createHash } from "node:crypto"; import crypto from "crypto"; return [createHash("md5").digest("hex"), crypto.createHash === createHash]`)
	if got != `["d41d8cd98f00b204e9800998ecf8427e",true]` {
		t.Errorf("imported crypto returns %s; want the digest of an empty text, and true", got)
	}
}

func TestSubtle(t *testing.T) {
	const hex = `const hex = (b) => Buffer.from(b).toString("hex"); const text = (s) => new TextEncoder().encode(s);`
	for code, want := range map[string]string{
		`hex(await crypto.subtle.digest("SHA-256", text("abc"))).slice(0, 12)`:                `"ba7816bf8f01"`,
		`hex(await crypto.subtle.digest({ name: "sha-1" }, text("abc").buffer)).slice(0, 12)`: `"a9993e364706"`,
		`await (async () => { const key = await crypto.subtle.importKey("raw", text("key"), { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
			const mac = await crypto.subtle.sign("HMAC", key, text("The quick brown fox jumps over the lazy dog"));
			return [hex(mac).slice(0, 12), await crypto.subtle.verify("HMAC", key, mac, text("The quick brown fox jumps over the lazy dog")), await crypto.subtle.verify("HMAC", key, mac, text("x")), key.type, key.algorithm]; })()`: `["f7bc83f43053",true,false,"secret",{"name":"HMAC","length":24,"hash":{"name":"SHA-256"}}]`,
		`await (async () => { const key = await crypto.subtle.importKey("jwk", { kty: "oct", k: "a2V5", alg: "HS256" }, { name: "HMAC", hash: "SHA-256" }, true, ["sign"]);
			return [hex(await crypto.subtle.sign("HMAC", key, text("The quick brown fox jumps over the lazy dog"))).slice(0, 12), await crypto.subtle.exportKey("jwk", key), hex(await crypto.subtle.exportKey("raw", key)),
				await crypto.subtle.importKey("jwk", { kty: "RSA" }, { name: "HMAC", hash: "SHA-256" }, true, ["sign"]).catch((e) => e.name), await crypto.subtle.exportKey("pkcs8", key).catch((e) => e.name)]; })()`: `["f7bc83f43053",{"key_ops":["sign"],"ext":true,"kty":"oct","k":"a2V5","alg":"HS256"},"6b6579","DataError","NotSupportedError"]`,
		`await crypto.subtle.digest("MD5", text("")).catch((e) => e.name)`: `"NotSupportedError"`,
		`await crypto.subtle.encrypt?.()`:                                  `null`,
	} {
		if got := answer(t, hex+"return ("+code+");"); got != want {
			t.Errorf("%s\n = %s\n want %s", code, got, want)
		}
	}
}

func TestProcessAndUtil(t *testing.T) {
	code := `
		const order = [];
		process.nextTick((x) => order.push(x), "tick");
		await null;
		let refused; try { "use strict"; (() => { "use strict"; process.env.KEY = "w"; })(); } catch (e) { refused = e.name; }
		const util = require("util");
		return [process.env.KEY, process.env.NONE, refused, env.KEY, order, typeof process.exit, process.versions.node, require("process") === process,
			util.format("%s-%d", "a", 1), util.inspect({ a: [1] }), await util.promisify((x, done) => done(null, x + 1))(1), process.hrtime().length];`
	out, err := runWith(t, code, engine.Input{Context: json.RawMessage(`{"env":{"KEY":"v"}}`)}, enginetest.NewMemory(errHalt))
	if err != nil {
		t.Fatal(err)
	}
	const want = `["v",null,"TypeError","v",["tick"],"undefined",null,true,"a-1","{ a: [ 1 ] }",2,2]`
	if string(out.Output) != want || out.Context != nil {
		t.Errorf("Run = %s, context %s; want %s", out.Output, out.Context, want)
	}
}

// TestHashIsBounded checks that the hashing of a large amount of data stops when the run ends.
func TestHashIsBounded(t *testing.T) {
	program, err := newEngine(t).Load(t.Context(), engine.Source{Path: "tool.js", Code: []byte(
		`const h = require("crypto").createHash("sha512"); const b = Buffer.alloc(16 << 20); for (;;) h.update(b);`)})
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	ctx, cancel := contextWithTimeout(t, 200*time.Millisecond)
	defer cancel()
	_, err = program.Run(ctx, engine.Input{}, engine.Host{})
	if f, ok := err.(*abi.Fault); !ok || f.Code != abi.Timeout {
		t.Errorf("Run = %v; want a timeout", err)
	}
}

func TestWeakReferences(t *testing.T) {
	for code, want := range map[string]string{
		`(() => { const o = { a: 1 }; return [new WeakRef(o).deref() === o, String(new WeakRef(o)), WeakRef.length, WeakRef.name]; })()`:                                                                                           `[true,"[object WeakRef]",1,"WeakRef"]`,
		`(() => { const r = new FinalizationRegistry(() => {}); const t = {}; return [r.register({}, 1, t), r.unregister(t), r.unregister(t), String(r)]; })()`:                                                                    `[null,true,false,"[object FinalizationRegistry]"]`,
		`[() => new WeakRef(1), () => WeakRef({}), () => new FinalizationRegistry(), () => { const o = {}; new FinalizationRegistry(() => {}).register(o, o); }].map((f) => { try { return f(); } catch (e) { return e.name; } })`: `["TypeError","TypeError","TypeError","TypeError"]`,
	} {
		if got := answer(t, "return ("+code+");"); got != want {
			t.Errorf("%s\n = %s\n want %s", code, got, want)
		}
	}
}

// TestYieldStar checks that yield* in a synchronous generator uses the synchronous iterator, even
// if esbuild lowers async generators.
func TestYieldStar(t *testing.T) {
	const both = `class B { *[Symbol.iterator]() { yield 1; yield 2 } async *[Symbol.asyncIterator]() { yield 3 } }`
	for code, want := range map[string]string{
		both + `function* g() { yield* new B() } return [...g()]`: `[1,2]`,
		both + `async function* a() { yield* new B(); function* inner() { yield* new B() } yield [...inner()] } const seen = []; for await (const x of a()) seen.push(x); return seen`: `[3,[1,2]]`,
		both + `const o = { *m() { const r = yield* (function* () { yield* new B(); return 9 })(); yield r } }; return [...o.m()]`:                                                     `[1,2,9]`,
	} {
		if got := answer(t, code); got != want {
			t.Errorf("%s\n = %s\n want %s", code, got, want)
		}
	}
	if strings.Contains(both, "__") {
		t.Fatal("the source contains __, which is reserved for helpers")
	}
}
