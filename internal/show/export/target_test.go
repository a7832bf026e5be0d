package export_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// TestUndoOfVariable: undo.sh restores the value that a variable had on the other
// machine, not the one that it had where the change was made.
func TestUndoOfVariable(t *testing.T) {
	p := newPast(t)
	const name = "innodb_flush_log_at_trx_commit"
	p.add(sets(map[string][2]string{name: {"1", "2"}}, name), keptStages...)
	g := exported(t, p)
	if _, err := g.db.ExecContext(t.Context(), "SET GLOBAL "+name+" = 0"); err != nil {
		t.Fatal(err)
	}
	g.run(0, g.env, "apply.sh", "--yes")
	if v := g.value(name); v != "2" {
		t.Fatalf("applied, and it is %s", v)
	}
	g.run(0, g.env, "undo.sh")
	if v := g.value(name); v != "0" {
		t.Errorf("undone, and it is %s; it was 0 there", v)
	}
}

// TestAnotherPort: the patch of nginx's configuration fits where the application
// has another address, and writes that address.
func TestAnotherPort(t *testing.T) {
	p := newPast(t)
	const conf = "events {}\nhttp {\n    server {\n        listen 80;\n        location / {\n            proxy_pass http://127.0.0.1:81;\n        }\n    }\n}\n"
	with := strings.Replace(conf, "    server {\n", "    upstream app { server 127.0.0.1:81; keepalive 8; }\n    server {\n", 1)
	with = strings.Replace(with, "proxy_pass http://127.0.0.1:81", "proxy_pass http://app", 1)
	c := edits("nginxconf", "nginx", "keep connections open", iikanji.Reload, change.Edit{Path: "conf/nginx.conf", Old: []byte(conf), New: []byte(with)})
	c.Remedy = &iikanji.Remedy{Kind: "nginxconf", Target: "nginx", Args: map[string]string{"act": "upstream keepalive", "keepalive": "8"}}
	p.add(c, keptStages...)
	g := exported(t, p)
	other := func(text string) string { return strings.ReplaceAll(text, "127.0.0.1:81", "10.0.0.7:8000") }
	g.write("nginx.conf", other(conf))
	g.run(0, append(g.env, "APP_ADDRESS=10.0.0.7:8000"), "apply.sh", "--yes")
	if got := g.state()["nginx.conf"]; !strings.HasSuffix(got, other(with)) {
		t.Errorf("applied:\n%s\nwant\n%s", got, other(with))
	}
	g.run(0, g.env, "undo.sh")
	if got := g.state()["nginx.conf"]; !strings.HasSuffix(got, other(conf)) {
		t.Errorf("undone:\n%s", got)
	}

	text, err := os.ReadFile(filepath.Join(g.out, "acts", "0001.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r iikanji.Remedy
	if err := json.Unmarshal(text, &r); err != nil || r.Kind != "nginxconf" || r.Args["act"] != "upstream keepalive" || strings.Contains(string(text), "127.0.0.1") {
		t.Errorf("the act is %s, %v", text, err)
	}
}

// TestKilledInCopy kills apply.sh, and then undo.sh, in the middle of the copy of a
// file: undo.sh restores it.
func TestKilledInCopy(t *testing.T) {
	p := newPast(t)
	p.add(edits("patch", "app", "a patch", iikanji.Restart, change.Edit{Path: "webapp/go/main.go", Old: []byte(oldApp), New: []byte(midApp)}), keptStages...)
	g := exported(t, p)
	before := g.state()
	main := filepath.Join(g.dir, "app/go/main.go")
	bin := t.TempDir()
	// The last argument is the file to write.
	const deadly = "#!/bin/sh\nfor last; do :; done\nif [ \"$last\" = \"$DEADLY\" ]; then printf half >\"$last\"; kill -9 $PPID; exit 1; fi\nexec /bin/cp \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "cp"), []byte(deadly), 0o755); err != nil {
		t.Fatal(err)
	}
	env := append([]string{"PATH=" + bin + ":" + os.Getenv("PATH"), "DEADLY=" + main}, g.env[1:]...)
	for _, args := range [][]string{{"apply.sh", "--yes"}, {"undo.sh"}} {
		g.run(-1, env, args...)
		if got := read(t, main); got != "half" {
			t.Fatalf("%v: the file is %q: the test proves nothing", args, got)
		}
	}
	g.run(0, g.env, "undo.sh")
	g.unchanged("undone", before)
}
