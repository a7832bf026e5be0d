package export_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/show/export"
)

// exported exports the kept changes and sets up another machine for them.
func exported(t *testing.T, p *past) *target {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	if _, err := export.Write(dir, p.h, export.Options{Name: "tiny", Root: root, Places: places}); err != nil {
		t.Fatal(err)
	}
	return newTarget(t, dir)
}

// value returns a global variable of the server.
func (g *target) value(name string) (v string) {
	g.t.Helper()
	if err := g.db.QueryRowContext(g.t.Context(), "SELECT @@GLOBAL."+name).Scan(&v); err != nil {
		g.t.Fatal(err)
	}
	return v
}

// sets returns a change of variables, each from one value to another.
func sets(values map[string][2]string, names ...string) *iikanji.Change {
	c := &iikanji.Change{Kind: "mysqlconf", Target: "database", Says: "set variables", Ground: change.FingerprintOf([]byte("before"))}
	for _, name := range names {
		from, to := values[name][0], values[name][1]
		place := change.VariablePlace("database", name)
		c.Do = append(c.Do, iikanji.Op{Verb: iikanji.SQL, Place: place, Body: change.SetGlobal(name, to), Expect: change.FingerprintOf([]byte(from + "\n"))})
		c.Undo = slices.Insert(c.Undo, 0, iikanji.Op{Verb: iikanji.SQL, Place: place, Body: change.SetGlobal(name, from), Expect: change.FingerprintOf([]byte(to + "\n"))})
	}
	return c
}

// TestRefusedStatement: undo.sh undoes the executed statements of a change, and not
// the refused one.
func TestRefusedStatement(t *testing.T) {
	p := newPast(t)
	g := exportedAfter(t, p, func(g *target) *iikanji.Change {
		return sets(map[string][2]string{"innodb_io_capacity": {g.value("innodb_io_capacity"), "777"}, "innodb_no_such": {"1", "2"}}, "innodb_io_capacity", "innodb_no_such")
	})
	before := g.value("innodb_io_capacity")
	if said := g.run(1, g.env, "apply.sh", "--yes"); !strings.Contains(said, "Unknown system variable") || !strings.Contains(said, "undo.sh undoes what was done") {
		t.Errorf("a statement that is refused:\n%s", said)
	}
	if got := g.value("innodb_io_capacity"); got != "777" {
		t.Fatalf("the first statement was not done: %s", got)
	}
	g.run(0, g.env, "undo.sh")
	if got := g.value("innodb_io_capacity"); got != before {
		t.Errorf("after undo.sh the variable is %s, was %s", got, before)
	}
}

// exportedAfter exports one change that is built from the other machine's state.
func exportedAfter(t *testing.T, p *past, make func(*target) *iikanji.Change) *target {
	t.Helper()
	g := newTarget(t, "")
	p.add(make(g), keptStages...)
	g.out = filepath.Join(t.TempDir(), "out")
	if _, err := export.Write(g.out, p.h, export.Options{Name: "tiny", Root: root, Places: places}); err != nil {
		t.Fatal(err)
	}
	return g
}

// TestNotOnline: a statement that a server cannot run online is run offline.
func TestNotOnline(t *testing.T) {
	p := newPast(t)
	before, after := change.FingerprintOf([]byte("before")), change.FingerprintOf([]byte("after"))
	place, online := change.TablePlace("database", "shop", "orders"), ", "+strings.Join(change.Online, ", ")
	p.add(&iikanji.Change{Kind: "ddl", Target: "database", Says: "another type", Ground: before,
		Do:   []iikanji.Op{{Verb: iikanji.SQL, Place: place, Body: "ALTER TABLE `shop`.`orders` MODIFY `user` BIGINT" + online, Expect: before}},
		Undo: []iikanji.Op{{Verb: iikanji.SQL, Place: place, Body: "ALTER TABLE `shop`.`orders` MODIFY `user` INT(11) DEFAULT NULL" + online, Expect: after}}}, keptStages...)
	g := exported(t, p)
	start := g.state()
	if said := g.run(0, g.env, "apply.sh", "--yes"); !strings.Contains(said, "ERROR 1846") || !strings.Contains(said, "running it offline") {
		t.Errorf("it was run another way:\n%s", said)
	}
	if got := g.state()["orders"]; !strings.Contains(got, "`user` bigint") {
		t.Errorf("the table is\n%s", got)
	}
	g.run(0, g.env, "undo.sh")
	g.unchanged("undone", start)
}

// TestSkip: a change that does not fit the other machine can be skipped, and the
// rest is applied; two changes of one file can be skipped together only.
func TestSkip(t *testing.T) {
	p := newPast(t)
	p.fill()
	g := exported(t, p)
	g.write("nginx.conf", "# quite another configuration\n")
	before := g.state()
	env := slices.DeleteFunc(slices.Clone(g.env), func(v string) bool { return strings.HasPrefix(v, "NGINX_") })
	if said := g.run(1, g.env, "apply.sh", "--yes"); !strings.Contains(said, "does not fit") {
		t.Errorf("without SKIP:\n%s", said)
	}
	for skip, want := range map[string]string{"9": "no change 9", "3": "changes 3 2 are in one file, webapp/go/main.go"} {
		if said := g.run(1, append(slices.Clone(g.env), "SKIP="+skip), "apply.sh", "--yes"); !strings.Contains(said, want) {
			t.Errorf("SKIP=%s: no %q in\n%s", skip, want, said)
		}
	}
	g.unchanged("refused", before)

	said := g.run(0, append(env, "SKIP=4, 1"), "apply.sh", "--yes") // no variable of nginx is needed
	if strings.Contains(said, "reload nginx") || !strings.Contains(said, "restart database") || !strings.Contains(said, "Skipped: change 4") {
		t.Errorf("its output is\n%s", said)
	}
	now := g.state()
	if now["nginx.conf"] != before["nginx.conf"] || now["orders"] != before["orders"] || now["app/go/main.go"] == before["app/go/main.go"] {
		t.Errorf("with changes 4 and 1 skipped the state is\n%s", now)
	}
	withoutClient := slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, "DB_CLIENT=") })
	g.run(0, withoutClient, "undo.sh") // no statement was run
	g.unchanged("undone", before)
}

// TestNginxChecks: a patch may fit its file and be invalid in the rest of a real
// nginx's configuration. Then every file is restored, and no statement was run.
func TestNginxChecks(t *testing.T) {
	p := newPast(t)
	p.add(index(), keptStages...)
	p.add(edits("nginxconf", "nginx", "serve /assets/ from files", iikanji.Reload, change.Edit{Path: "conf/nginx.conf", Old: []byte(oldNginx), New: []byte(newNginx)}), keptStages...)
	g := exported(t, p)
	g.dir = t.TempDir() // a path that nginx reads as one word
	check := filepath.Join(t.TempDir(), "check.sh")
	if err := os.WriteFile(check, []byte("exec nginx -t -q -e '"+g.dir+"/error.log' -c '"+g.dir+"/nginx.conf'\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	env := append(slices.Clone(g.env), "NGINX_CONF="+g.dir+"/nginx.conf", "WEBAPP="+g.dir+"/app", "NGINX_CHECK=sh "+check)
	ours := "events { }\npid " + g.dir + "/pid;\n" + strings.ReplaceAll(oldNginx, root+"/log", g.dir)
	twice := strings.Replace(ours, "    server {\n", "    server {\n        location /assets/ { return 404; }\n", 1)
	g.write("nginx.conf", twice)
	table := g.state()["orders"]
	if said := g.run(1, env, "apply.sh", "--yes"); !strings.Contains(said, "duplicate location") || !strings.Contains(said, "every file is as it was") {
		t.Errorf("a configuration that nginx refuses:\n%s", said)
	}
	if got := read(t, filepath.Join(g.dir, "nginx.conf")); got != twice || g.state()["orders"] != table {
		t.Errorf("the configuration is\n%s\nand the table\n%s", got, g.state()["orders"])
	}
	g.write("nginx.conf", ours)
	g.run(0, env, "apply.sh", "--yes")
	if got := read(t, filepath.Join(g.dir, "nginx.conf")); !strings.Contains(got, "location /assets/ { root "+g.dir+"/app/public; }") {
		t.Errorf("the configuration is\n%s", got)
	}
}

// TestReadmeProofs: README.md has the runs by which each change was judged.
func TestReadmeProofs(t *testing.T) {
	p := newPast(t)
	effect := iikanji.Interval{Mid: 0.2, Lo: 0.1, Hi: 0.3, Level: 0.9}
	verdicts := []*iikanji.Verdict{
		{Base: []iikanji.RunID{1, 4, 5}, Tried: []iikanji.RunID{2, 3, 6}, Effect: effect},
		{Base: []iikanji.RunID{5, 6}, Tried: []iikanji.RunID{7, 8, 9}, Effect: effect},
		{Base: []iikanji.RunID{10, 13}, Tried: []iikanji.RunID{11, 12}, Effect: effect},
		{Base: []iikanji.RunID{10, 13}, Tried: []iikanji.RunID{11, 12}, Effect: effect},
		nil,
	}
	for i, v := range verdicts {
		name := string(rune('a' + i))
		id := p.add(edits("patch", "app", "patch "+name, iikanji.Restart, change.Edit{Path: "webapp/" + name, New: []byte("x\n")}), keptStages...)
		if v == nil {
			continue
		}
		v.Change, v.Call, v.Reason = id, iikanji.Keep, iikanji.Proven
		if err := p.h.SaveVerdict(id, v); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(t.TempDir(), "out")
	if _, err := export.Write(dir, p.h, export.Options{Name: "tiny", Root: root, Places: places}); err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(read(t, filepath.Join(dir, "README.md")), "\n## Change ")
	for i, want := range []string{"3 pairs of interleaved runs, with and without it.\n", "3 runs with it, after 2 without it: not interleaved.\n",
		"2 pairs of interleaved runs, with and without it. It was tried together with change 4: the effect is that of all of them.\n", "tried together with change 3:", "No runs were compared"} {
		if !strings.Contains(parts[i+1], want) {
			t.Errorf("no %q in\n%s", want, parts[i+1])
		}
	}
}

// TestConnectionLost: a statement is not treated as refused when the connection
// broke; undo.sh undoes it.
func TestConnectionLost(t *testing.T) {
	p := newPast(t)
	p.add(index(), keptStages...)
	g := exported(t, p)
	before := g.state()
	client, _ := strings.CutPrefix(g.env[slices.IndexFunc(g.env, func(v string) bool { return strings.HasPrefix(v, "DB_CLIENT=") })], "DB_CLIENT=")
	lost := filepath.Join(t.TempDir(), "lost.sh")
	if err := os.WriteFile(lost, []byte(client+"\necho 'ERROR 2013 (HY000) at line 2: Lost connection to server during query' >&2\nexit 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if said := g.run(1, append(slices.Clone(g.env), "DB_CLIENT=sh "+lost), "apply.sh", "--yes"); !strings.Contains(said, "the server may still run it") {
		t.Errorf("its output is\n%s", said)
	}
	if !strings.Contains(g.state()["orders"], "by_user") {
		t.Fatal("the statement was not done: the test proves nothing")
	}
	g.run(0, g.env, "undo.sh")
	g.unchanged("undone", before)
}
