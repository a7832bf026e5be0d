package history

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
)

// TestRootsRoundTrip: decode restores every text that encode wrote, and the encoded
// text has no path of a root.
func TestRootsRoundTrip(t *testing.T) {
	rs := roots(nil).with(Root{"home", "/home/u"}, Root{"work", "/home/u/w"}, Root{"odd", `/tmp/a "b" <c>`})
	for _, c := range []struct{ text, encoded string }{
		{"include /home/u/w/conf/*.conf;", "include {root:work}/conf/*.conf;"},
		{"/home/u/x and /home/u", "{root:home}/x and {root:home}"},
		{"/home/u/w2 is not in w", "{root:home}/w2 is not in w"},
		{"/home/ua and /home/u-b and /home/u.b", "/home/ua and /home/u-b and /home/u.b"},
		{"in /home/u/w.", "in {root:work}."},
		{"{root:work} and {root:/home/u}", "{root:}work} and {root:}{root:home}}"},
		{"{root:}{root:", "{root:}}{root:}"},
		{"", ""},
	} {
		got := string(rs.encode([]byte(c.text), textForm, true))
		if got != c.encoded {
			t.Errorf("%q: encoded %q, want %q", c.text, got, c.encoded)
		}
		if back := string(rs.decode([]byte(got), textForm)); back != c.text {
			t.Errorf("%q: decoded %q", c.text, back)
		}
	}
	doc, err := json.Marshal(map[string]string{"place": `/tmp/a "b" <c>/x`, "body": "a\n/home/u/w\n{root:odd}"})
	if err != nil {
		t.Fatal(err)
	}
	encoded := rs.encode(doc, jsonForm, true)
	var back map[string]string
	if err := json.Unmarshal(rs.decode(encoded, jsonForm), &back); err != nil || back["place"] != `/tmp/a "b" <c>/x` || back["body"] != "a\n/home/u/w\n{root:odd}" {
		t.Errorf("%s: %v %q", encoded, err, back)
	}
	if strings.Contains(string(encoded), "/home") || strings.Contains(string(encoded), "/tmp") {
		t.Errorf("a path is left: %s", encoded)
	}
}

// FuzzRoots: decode is the inverse of encode for every text and every root.
func FuzzRoots(f *testing.F) {
	f.Add([]byte("include /srv/shop/conf; {root:site}"), "/srv/shop")
	f.Add([]byte("{root:}{root:site}/srv"), "/srv")
	f.Fuzz(func(t *testing.T, text []byte, path string) {
		if !isRoot(path) {
			return
		}
		rs := roots(nil).with(Root{"site", path}, Root{"in", filepath.Join(path, "in")})
		for _, form := range []func(string) []string{textForm, jsonForm} {
			if len(form(path)) > 1 { // decode writes one of the forms, which JSON reads alike
				continue
			}
			if back := rs.decode(rs.encode(text, form, true), form); !bytes.Equal(back, text) {
				t.Fatalf("%q with %q: %q", text, path, back)
			}
		}
	})
}

// TestRootsOfChange: the files of a change have no path of the machine and are read as
// they were written; a place outside of the named roots gets a root of its own; a
// history without its roots is readable, and its changes cannot be undone.
func TestRootsOfChange(t *testing.T) {
	dir, site := t.TempDir(), t.TempDir()
	h := open(t, dir)
	if err := h.NameRoots(Root{"site", site}, Root{"site", "/elsewhere/of/the same name"}, Root{"root", "/"}); err != nil {
		t.Fatal(err)
	}
	c := &iikanji.Change{Kind: "nginxconf", Says: "edit " + site + "/nginx.conf", Do: []iikanji.Op{
		{Verb: iikanji.Write, Place: site + "/nginx.conf", Body: "pid " + site + "/nginx.pid;\n# {root:site}\n"},
		{Verb: iikanji.Write, Place: "/opt/other/nginx/a.conf", Body: "include /opt/other/nginx/b.conf;"},
		{Verb: iikanji.SQL, Place: "shop.items", Body: "ALTER TABLE items ADD KEY (id)"},
	}}
	if err := h.AddChange(c, "--- a"+site+"/nginx.conf\n"); err != nil {
		t.Fatal(err)
	}
	if err := h.MoveChange(c.ID, iikanji.Applying, "because of "+site+"/nginx.conf"); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	written := ""
	for _, name := range []string{"changes/0001/change.json", "changes/0001/diff", "journal.jsonl"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		written += string(text)
	}
	if strings.Contains(written, site) || strings.Contains(written, "/opt/other") || !strings.Contains(written, `"place": "{root:nginx}/a.conf"`) {
		t.Errorf("files of a change:\n%s", written)
	}
	check := func() *iikanji.Change {
		t.Helper()
		v, err := View(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		got, err := v.LoadChange(1)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	got := check()
	if err := Resolved(got); err != nil || got.Says != c.Says || got.Do[0] != c.Do[0] || got.Do[1] != c.Do[1] || got.Do[2] != c.Do[2] {
		t.Errorf("read back: %v\n%+v\n%+v", err, got, c)
	}
	again := open(t, dir)
	if diff, err := again.Diff(1); err != nil || diff != "--- a"+site+"/nginx.conf\n" {
		t.Errorf("diff: %q %v", diff, err)
	}
	if events := again.Events(); events[1].Text != "because of "+site+"/nginx.conf" {
		t.Errorf("event: %q", events[1].Text)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, RootsName)); err != nil {
		t.Fatal(err)
	}
	if err := Resolved(check()); err == nil || !strings.Contains(err.Error(), `root "site"`) {
		t.Errorf("a change of unknown roots: %v", err)
	}
}

// TestOldChange: a change.json of version 1 has paths, also such as look like a root,
// and is committed in the present version.
func TestOldChange(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir)
	if err := h.NameRoots(Root{"site", "/srv/shop"}); err != nil {
		t.Fatal(err)
	}
	if err := h.AddChange(&iikanji.Change{Kind: "x"}, ""); err != nil {
		t.Fatal(err)
	}
	old := `{"version": 1, "id": 1, "kind": "x", "do": [{"verb": "write", "place": "/srv/shop/a", "body": "{root:site}"}]}`
	path := filepath.Join(dir, "changes", "0001", "change.json")
	if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	want := iikanji.Op{Verb: iikanji.Write, Place: "/srv/shop/a", Body: "{root:site}"}
	if c, err := h.LoadChange(1); err != nil || c.Do[0] != want {
		t.Fatalf("%+v, %v", c, err)
	}
	for _, text := range []string{old, "again"} {
		if text != old {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text = string(data)
		}
		portable, err := h.Portable("changes/0001/change.json", []byte(text))
		if err != nil || strings.Contains(string(portable), "/srv/shop") {
			t.Fatalf("%s: %v", portable, err)
		}
		if err := os.WriteFile(path, portable, 0o600); err != nil {
			t.Fatal(err)
		}
		if c, err := h.LoadChange(1); err != nil || c.Do[0] != want {
			t.Fatalf("committed: %+v, %v", c, err)
		}
	}
}

// TestBadRoots: roots that are not folders are refused with a reason.
func TestBadRoots(t *testing.T) {
	for _, text := range []string{`{"version": 2}`, `{"version": 1, "roots": [{"name": "a b", "path": "/x"}]}`, `{"version": 1, "roots": [{"name": "a", "path": "x"}]}`, `{`} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, RootsName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), RootsName) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
