package bundle

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/engine"
)

func hostile() map[string]string {
	r := strings.Repeat
	N := 1<<20 - 200
	fill := func(pre, unit, post string) string { return pre + r(unit, (N-len(pre)-len(post))/len(unit)) + post }
	num := func(pre, f, post string) string {
		var b strings.Builder
		b.WriteString(pre)
		for i := 0; b.Len() < N; i++ {
			fmt.Fprintf(&b, f, i)
		}
		b.WriteString(post)
		return b.String()
	}
	return map[string]string{
		"stmts": fill("", "a();", ""), "lets": num("", "let a%d;", ""), "vars": num("", "var a%d;", ""), "funcs": fill("", "function f(){}", ""), "funcsN": num("", "function f%d(){}", ""),
		"blocks": fill("", "{}", ""), "arrows": fill("", "()=>{};", ""), "classes": num("", "class A%d{}", ""), "ifs": fill("", "if(a){}", ""),
		"str": "x='" + r("a", N) + "'", "regex": "x=/" + r("a", N) + "/", "regexparens": "x=/" + r("(a)", N/3) + "/", "regexclass": "x=/[" + r("a", N) + "]/", "regexlook": "x=/" + r("(?=", N/5) + r(")", N/5) + "/",
		"dupkeys": fill("x={", "a:1,", "}"), "objN": num("x={", "a%d:1,", "}"), "array": fill("x=[", "1,", "]"), "args": fill("f(", "a,", ")"), "params": num("function f(", "a%d,", "){}"),
		"holes": fill("x=[", ",", "]"), "templates": fill("x=", "``;", ""), "subst": fill("x=`", "${a}", "`"), "dots": fill("a", ".b\n", ""), "awaits": fill("", "await a;", ""),
		"labels": num("", "a%d:{}", ""), "gets": fill("class A{", "get a(){return 1}", "}"), "priv": num("class A{", "#a%d;", "}"), "static": fill("class A{", "static{}", "}"), "fields": num("class A{", "a%d=1;", "}"),
		"try": fill("", "try{}catch{}", ""), "switches": fill("", "switch(a){}", ""), "forawait": fill("", "for await(a of b);", ""), "asyncgen": fill("", "async function*f(){}", ""), "imports": fill("", "import 'x';", ""), "exports": num("", "export let a%d;", ""),
		"requires": fill("", "require('x');", ""), "comments": fill("", "/**/", ""), "newlines": fill("", "\n", ""), "semis": fill("", ";", ""), "spaces": fill("", " ", ""), "ident": "x" + r("a", N), "escapes": "x='" + r("\\u0041", N/6) + "'",
		"cases": fill("switch(x){", "case 1:;", "}"), "bigint": "x=" + r("9", N) + "n", "number": "x=" + r("9", N), "destr": fill("var {", "a,", "}=b"), "ternary in args": fill("f(", "a?b:c,", ")"), "nestfn": r("x=function(){", 990) + r("}", 990),
		"nestarrow": "x=" + r("a=>", 990) + "1", "nestif": r("if(a)", 2400) + ";", "nestarrowparen": "x=" + r("()=>(", 990) + "1" + r(")", 990), "manynest": r("x="+r("a=>", 990)+"1;", 5), "class nest": "x=" + r("class extends ", 1200) + "a" + r("{}", 1200),
		"paren": r("(", N), "not": r("!", N), "plus": fill("x=1", "+1", ""), "comma": fill("x=(a", ",a", ")"), "elseif": fill("", "if(a)b,c;else ", ";"), "elseblock": fill("", "if(a){}else ", ";"), "keyof": fill("let x:", "keyof\n", "A"), "generic": fill("let x:", "A<B,", "C"), "generic2": fill("let x:", "A<\nB,", "C"),
		"brace": r("{", N), "template": r("`${", N/3), "await": r("await\n", N/6) + "1", "label": num("", "a%d:\n", ""), "async": r("async\nx=>", N/9), "asyncs": r("async x=>", N/9), "new": r("new\n", N/4) + "a", "typeof": r("typeof\n", N/7) + "a", "classext": r("class\nextends\n", N/14), "do": r("do\n", N/3), "in": fill("a", "\nin\na", ""), "function": r("function\nf(){", N/13), "hideslash": "x={} / '\"/';" + r("!", N/2) + "1",
		"tsbang": fill("x=a", "!", ""), "as": fill("x=a", "\nas\nb", ""), "union": fill("let x:a", "\n|a", ""), "tuple": r("let x:"+r("[", 900)+r("]", 900)+";", 500), "decor": fill("", "@a\n", "class A{}"), "enum": num("enum A{", "a%d,", "}"), "ns": r("namespace A{", 900) + r("}", 900), "nsdot": "namespace A" + r(".a", N/2) + "{}", "optchain": fill("a", "?.b", ""), "private in": fill("", "#a in ", "b"),
		"using": fill("", "using a=b;", ""), "yield": "function*f(){" + r("yield\n", N/6) + "}", "super": fill("class A extends B{constructor(){", "super();", "}}"), "json": r("[", N), "jsdoc": fill("/*", "*", "*/"), "throw": fill("", "throw a;", ""), "return": fill("", "return a;", ""),
	}
}

func TestHostile(t *testing.T) {
	if k := os.Getenv("HOSTILE"); k != "" {
		path := os.Getenv("HPATH")
		_, f := build(engine.Source{Path: path, Code: []byte(hostile()[k])})
		if f != nil {
			fmt.Printf("RES fault %.60s\n", f.Message)
		} else {
			fmt.Println("RES ok")
		}
		return
	}
	only := os.Getenv("ONLY")
	for k := range hostile() {
		if only != "" && only != k {
			continue
		}
		for _, p := range []string{"a.js", "a.ts"} {
			s := time.Now()
			c := exec.Command("timeout", "20", os.Args[0], "-test.run=TestHostile$")
			c.Env = append(os.Environ(), "HOSTILE="+k, "HPATH="+p)
			out, err := c.CombinedOutput()
			d := time.Since(s).Milliseconds()
			res := "DIED " + fmt.Sprint(err)
			for _, l := range strings.Split(string(out), "\n") {
				if strings.HasPrefix(l, "RES") {
					res = l
				} else if strings.HasPrefix(l, "runtime:") || strings.HasPrefix(l, "panic") {
					res += " " + l
				}
			}
			if d > 1500 || strings.HasPrefix(res, "DIED") {
				fmt.Println(k, p, d, "ms", res)
			}
		}
	}
}
