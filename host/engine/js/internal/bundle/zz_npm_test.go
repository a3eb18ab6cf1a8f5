package bundle

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

func TestNpmScan(t *testing.T) {
	n, bad := 0, 0
	filepath.WalkDir("/tmp/jsbundle/npm/node_modules", func(p string, d fs.DirEntry, err error) error {
		ext := filepath.Ext(p)
		if d.IsDir() || (ext != ".js" && ext != ".mjs" && ext != ".cjs" && ext != ".ts") {
			return nil
		}
		b, _ := os.ReadFile(p)
		if len(b) > 4<<20 {
			return nil
		}
		lang := languages[ext]
		s, f := scanSource(p, neutralize(b), lang)
		n++
		if f != nil {
			bad++
			fmt.Println(p, f.Line, f.Column, f.Message)
		} else if s.stray >= 0 {
			bad++
			fmt.Println("stray", p, placeIn(p, string(b), s.stray))
		}
		return nil
	})
	fmt.Println(n, "files", bad, "bad")
}

func TestNpmBuild(t *testing.T) {
	for _, c := range []string{
		`import _ from "lodash"; return _.chunk([1,2,3],2)`,
		`import {chunk} from "lodash-es"; return chunk([1,2,3],2)`,
		`import moment from "moment"; return moment(0).utc().format()`,
		`import dayjs from "dayjs"; return dayjs(0).toISOString()`,
		`import {addDays} from "date-fns"; return addDays(new Date(0),1).toISOString()`,
		`import {z} from "zod"; return z.object({a:z.number()}).parse({a:1})`,
		`import Ajv from "ajv"; return new Ajv().validate({type:"object"}, {})`,
		`import {v4, v5} from "uuid"; return v5("x", v5.URL)`,
		`import {customAlphabet} from "nanoid/non-secure"; return customAlphabet("a",3)()`,
		`import e from "emoji-regex"; return "x😀".match(e())[0]`,
		`import {evaluate} from "mathjs"; return evaluate("1+2*3")`,
		`import C from "crypto-js/sha256"; return C("x").toString()`,
		`import Papa from "papaparse"; return Papa.parse("a,b\n1,2").data`,
		`import {parse} from "yaml"; return parse("a: [1,2]")`,
		`import H from "handlebars"; return typeof H.compile`,
		`import {marked} from "marked"; return marked.parse("# x")`,
		`import {DateTime} from "luxon"; return DateTime.fromISO("2020-01-01T00:00:00Z",{zone:"utc"}).toISO()`,
		`import * as R from "ramda"; return R.sum([1,2])`,
		`import B from "bignumber.js"; return new B(1).plus(2).toString()`,
		`import v from "validator"; return v.isEmail("a@b.co")`,
		`import * as a from "acorn"; return a.parse("1",{ecmaVersion:2020}).type`,
		`import {parse} from "@babel/parser"; return parse("1").type`,
	} {
		start := time.Now()
		b, f := build(engine.Source{Path: "tool.js", Code: []byte(c), Files: os.DirFS("/tmp/jsbundle/npm")})
		d := time.Since(start)
		if f != nil {
			fmt.Println("FAULT", c, f.File, f.Line, f.Column, f, f.Hint)
			continue
		}
		s2 := time.Now()
		fmt.Print(c[:40], " ", d.Milliseconds(), "ms ", len(b.Code), " ")
		tree, err := parser.ParseFile(nil, "x", b.Code, 0, parser.WithDisableSourceMaps)
		if err != nil {
			fmt.Println("PARSE", err)
			continue
		}
		p, err := goja.CompileAST(tree, false)
		if err != nil {
			fmt.Println("COMPILE", err)
			continue
		}
		fmt.Print("goja ", time.Since(s2).Milliseconds(), "ms ")
		vm := goja.New()
		v, err := vm.RunProgram(p)
		if err != nil {
			fmt.Println("RUN", err)
			continue
		}
		fn, _ := goja.AssertFunction(v)
		r, err := fn(goja.Undefined(), vm.NewObject(), vm.NewObject())
		if err != nil {
			fmt.Println("CALL", err)
			continue
		}
		pr := r.Export().(*goja.Promise)
		fmt.Println(pr.State(), strings.SplitN(fmt.Sprint(pr.Result()), "\n", 2)[0], b.Warnings)
		_ = abi.Internal
	}
}

func TestNpmMax(t *testing.T) {
	type top struct {
		n int
		p string
	}
	var best [6]top
	filepath.WalkDir("/tmp/jsbundle/npm/node_modules", func(p string, d fs.DirEntry, err error) error {
		ext := filepath.Ext(p)
		if d.IsDir() || (ext != ".js" && ext != ".mjs" && ext != ".cjs") {
			return nil
		}
		b, _ := os.ReadFile(p)
		s := &scanner{lexer: lexer{src: neutralize(b)}, lang: languages[ext], frames: []frame{{}}}
		s.found = scan{words: map[string]int{}, regexp: -1, stray: -1}
		m := 0
		for {
			tk := s.next(s.afterOperand())
			s.importDeclaration(tk)
			if tk.kind == end {
				break
			}
			s.token(tk)
			s.prior, s.prev = s.prev, tk
			m = max(m, s.chain)
		}
		for i := range best {
			if m > best[i].n {
				copy(best[i+1:], best[i:])
				best[i] = top{m, p}
				break
			}
		}
		return nil
	})
	for _, b := range best {
		fmt.Println(b)
	}
}
