package httpcache

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/rewrite/pagegen"
)

// some is a program with every part.
func some() *program {
	p := &program{apps: []string{"127.0.0.1:5000", "unix:/run/app.sock"}, purge: true}
	p.add(page{path: "/*", valid: time.Second})
	p.add(page{path: "/a/", valid: 1500 * time.Millisecond})
	p.add(page{path: "/a/b/", valid: time.Second})
	p.add(page{path: "/article/:id", valid: 100 * time.Second, shared: true, esi: true, headers: []string{"Accept", "X-Who"}})
	p.add(page{path: "= /a/", valid: 100 * time.Millisecond})
	p.add(page{path: "/", valid: time.Second})
	return p
}

// TestExpressions: each URL is of the page that nginx's location would answer.
func TestExpressions(t *testing.T) {
	for url, want := range map[string]string{
		"/": "/", "/?q": "/", "/a/": "= /a/", "/a/?x=1": "= /a/", "/a/c": "/a/", "/a/b/c": "/a/b/", "/article/1": "/article/:id", "/article/1?c": "/article/:id",
		"/article/": "/*", "/article/1/x": "/*", "/article/..": "/*", "/article/%2e%2e": "/*", "/other": "/*",
	} {
		got := ""
		for _, g := range some().pages {
			if regexp.MustCompile(g.expression()).MatchString(url) {
				got = g.path
				break
			}
		}
		if got != want {
			t.Errorf("%s is of page %q, want %q", url, got, want)
		}
	}
}

// FuzzProgram: a VCL that is read is generated again to the byte, and a path cannot
// leave its place in the VCL.
func FuzzProgram(f *testing.F) {
	f.Add(some().vcl())
	f.Add("vcl 4.1;\n\nbackend default none;\n")
	f.Add(mark + "app 127.0.0.1:1\n" + mark + "page valid=1s cookies=ignore esi=on headers=A,B path=/a\n")
	f.Add(mark + "page valid=1s cookies=ignore esi=on headers= path=/a\"; return (pipe)\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := readProgram(text)
		if err == nil && p != nil && p.vcl() != text {
			t.Errorf("%q is read as %+v", text, p)
		}
		g := page{path: text, valid: time.Second}
		if g.check() != nil {
			return
		}
		one := &program{apps: []string{"127.0.0.1:1"}, pages: []page{g}}
		again, err := readProgram(one.vcl())
		if err != nil || fmt.Sprint(again) != fmt.Sprint(one) {
			t.Errorf("path %q: %v, %v", text, again, err)
		}
		if _, err := regexp.Compile(g.expression()); err != nil {
			t.Errorf("path %q: %v", text, err)
		}
	})
}

// FuzzDrops: rows that are read are printed as they were read, and stay in their place in
// nginx's configuration and in Go source.
func FuzzDrops(f *testing.F) {
	f.Add("POST /comment/:1=/article/:1,/list;POST /post=/")
	f.Add("DELETE /a=")
	f.Add("POST /a=/b\"; return 200")
	f.Fuzz(func(t *testing.T, text string) {
		var rows, again drops
		if rows.UnmarshalText([]byte(text)) != nil {
			return
		}
		if err := again.UnmarshalText([]byte(rows.String())); err != nil || fmt.Sprint(again) != fmt.Sprint(rows) {
			t.Errorf("%q became %q: %v", text, rows, err)
		}
		p := pagegen.Plan{Folder: "/dev/shm/iikanji-0", Kept: []string{"/"}, Table: rows}
		source, err := planSource(p)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if read, err := parsePlan(source); err != nil || fmt.Sprint(read) != fmt.Sprint(p) {
			t.Errorf("%q: %+v, %v", text, read, err)
		}
	})
}
