package verify

import (
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

func answer(status int, kind, body string) *scenario.Response {
	return &scenario.Response{Method: "GET", Path: "/p", Status: status, Body: []byte(body),
		Fields: []scenario.HeaderField{{Name: []byte("content-type"), Value: []byte(kind)}}}
}

// wantFault checks the kind and the check of an error; FaultUnknown means none.
func wantFault(t *testing.T, err error, kind iikanji.FaultKind, check string) {
	t.Helper()
	f, ok := err.(*scenario.Fault)
	if scenario.KindOf(err) != kind || ok && f.Check != check || (err == nil) != (kind == iikanji.FaultUnknown) {
		t.Errorf("%v, want %v %q", err, kind, check)
	}
}

func TestJSON(t *testing.T) {
	read := func(res *scenario.Response) error {
		r, err := OpenJSON(res, 200)
		if err != nil {
			return err
		}
		r.Skip()
		return EndJSON(res, &r)
	}
	wantFault(t, read(answer(200, "application/json; charset=UTF-8", `{"a":[1]} `)), iikanji.FaultUnknown, "")
	wantFault(t, read(answer(201, "application/json", `{}`)), iikanji.FaultStatus, "")
	wantFault(t, read(answer(200, "text/html", `{}`)), iikanji.FaultContentType, "")
	wantFault(t, read(answer(200, "application/json", `{} x`)), iikanji.FaultBody, "")
	wantFault(t, read(answer(200, "application/json", `{`)), iikanji.FaultBody, "")
}

func TestRefusal(t *testing.T) {
	wantFault(t, Refusal(answer(403, "text/plain", "no"), "door", 403, "no"), iikanji.FaultUnknown, "")
	wantFault(t, Refusal(answer(200, "text/plain", "no"), "door", 403, "no"), iikanji.FaultStatus, "door")
	wantFault(t, Refusal(answer(403, "application/json", "no"), "door", 403, "no"), iikanji.FaultContentType, "door")
	wantFault(t, Refusal(answer(403, "text/plain", "yes"), "door", 403, "no"), iikanji.FaultCheck, "door")
	wantFault(t, RefusalStatus(answer(403, "text/html", "any"), "door", 403), iikanji.FaultUnknown, "")
	wantFault(t, RefusalStatus(answer(404, "text/plain", ""), "door", 403), iikanji.FaultStatus, "door")
}

func TestPage(t *testing.T) {
	const page = `<a href="#top"></a><a href="https://h/x"></a><a href=//h/y></a><link href='./a.css' ><script src=/b.js></script><img src="b.js"><a href="/">`
	want := []string{"/a.css", "/b.js"}
	wantFault(t, Page(answer(200, "text/html; charset=utf-8", page), want), iikanji.FaultUnknown, "")
	wantFault(t, Page(answer(200, "text/html", page), want[:1]), iikanji.FaultCheck, "page-assets")
	wantFault(t, Page(answer(200, "text/html", ""), want), iikanji.FaultCheck, "page-assets")
	wantFault(t, Page(answer(200, "text/plain", page), want), iikanji.FaultContentType, "")
	wantFault(t, Page(answer(404, "text/html", page), want), iikanji.FaultStatus, "")
}

func TestFile(t *testing.T) {
	sum := SumOf([]byte("body"))
	if sum.Size != 4 || sum == SumOf([]byte("ydob")) {
		t.Errorf("%+v", sum)
	}
	wantFault(t, File(answer(200, "", "body"), sum, false), iikanji.FaultUnknown, "")
	wantFault(t, File(answer(200, "", "Body"), sum, true), iikanji.FaultCheck, "asset-crc")
	wantFault(t, File(answer(304, "", "body"), sum, false), iikanji.FaultStatus, "")
	cached := answer(200, "", "Body")
	cached.Cached = true
	wantFault(t, File(cached, sum, false), iikanji.FaultCheck, "asset-crc")
	wantFault(t, File(cached, sum, true), iikanji.FaultUnknown, "")
}

// FuzzReferences: a page comes from the target, so it is hostile input.
func FuzzReferences(f *testing.F) {
	for _, s := range []string{`<a href="/x">`, `<img src='`, `src=`, `src=" src="`, "href=\x00 ", "src=.//x "} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, page []byte) {
		got := references(page)
		if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Fatalf("%q: not sorted or not unique", got)
		}
		for _, p := range got {
			if !strings.HasPrefix(p, "/") || strings.HasPrefix(p, "//") || strings.Contains(p, ":") {
				t.Fatalf("%q is not a local path", p)
			}
		}
	})
}
