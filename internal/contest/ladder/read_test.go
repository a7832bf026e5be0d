package ladder

import (
	"errors"
	"io/fs"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/iikanji/iikanji"
	_ "github.com/iikanji/iikanji/internal/change/all"
)

const headed = "# row: what was done\n# told: 1 → 2\n# source: us\n"

// sqlHeaded is the heading of a .sql file.
const sqlHeaded = "-- row: what was done\n-- told: 1 → 2\n-- source: us\n-- target: db\n-- schema: s\n"

// TestParse checks which remedies each ending of file gives.
func TestParse(t *testing.T) {
	ddl := func(args ...string) iikanji.Remedy {
		r := iikanji.Remedy{Kind: "ddl", Target: "db", Says: "what was done", Args: map[string]string{"schema": "s", "into": "schema file"}}
		for i := 0; i < len(args); i += 2 {
			r.Args[args[i]] = args[i+1]
		}
		return r
	}
	set := func(name, value string) iikanji.Remedy {
		return iikanji.Remedy{Kind: "nginxconf", Target: "web", Says: "what was done", Args: map[string]string{"act": "set", "directive": name, "value": value}}
	}
	for _, c := range []struct {
		name, text string
		want       []iikanji.Remedy
	}{
		{"01-a.sql", sqlHeaded + "\n-- why\nALTER TABLE `t` ADD INDEX i (a, b DESC), DROP INDEX old;\ndrop index x on t;\n", []iikanji.Remedy{
			ddl("act", "add index", "table", "t", "columns", "a, b DESC", "name", "i", "drop", "old"), ddl("act", "drop index", "name", "x", "table", "t")}},
		{"01-a.sql", sqlHeaded + "CREATE INDEX i\n  ON t (a(10), b);", []iikanji.Remedy{ddl("act", "add index", "table", "t", "columns", "a(10), b", "name", "i")}},
		{"01-a.sql", sqlHeaded + "ALTER TABLE t ADD SPATIAL INDEX (p);", []iikanji.Remedy{ddl("act", "add index", "table", "t", "columns", "p", "index", "spatial")}},
		{"01-a.sql", sqlHeaded + "ALTER TABLE t DROP INDEX i;", []iikanji.Remedy{ddl("act", "drop index", "name", "i", "table", "t")}},
		{"01-a.conf", headed + "# target: web\n\n# why\nsendfile on;\nproxy_buffers 8 16k;\n", []iikanji.Remedy{set("sendfile", "on"), set("proxy_buffers", "8 16k")}},
		{"01-a.conf", headed + "# target: db\n[mysqld]\ninnodb-buffer-pool-size = 1G\nsync_binlog=0\n", []iikanji.Remedy{
			{Kind: "mysqlconf", Target: "db", Says: "what was done", Args: map[string]string{"innodb_buffer_pool_size": "1G", "sync_binlog": "0"}}}},
		{"01-a.patch", headed + "# target: app\n# weakens: freshness\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", []iikanji.Remedy{
			{Kind: "patch", Target: "app", Says: "what was done", Args: map[string]string{"diff": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "weakens": "freshness"}}}},
		{"01-a.toml", headed + "\n[[remedy]]\nkind = \"appenv\"\ntarget = \"app\"\nsays = \"its own\"\nargs = { pool = \"20\" }\n\n" +
			"[[remedy]]\nkind = \"nginxconf\"\ntarget = \"web\"\nproof = [\"same-for-all\"]\n[remedy.args]\nact = \"gzip\"\n", []iikanji.Remedy{
			{Kind: "appenv", Target: "app", Says: "its own", Args: map[string]string{"pool": "20"}},
			{Kind: "nginxconf", Target: "web", Says: "what was done", Args: map[string]string{"act": "gzip"}, Proof: []iikanji.Proof{iikanji.SameForAll}}}},
	} {
		r, err := Parse(c.name, c.text)
		if err != nil || r.Number != 1 || r.Row != "what was done" || r.Told != "1 → 2" || r.Source != "us" || r.Hurts || !reflect.DeepEqual(r.Remedies, c.want) {
			t.Errorf("%q: %+v %v, want %+v", c.text, r, err, c.want)
		}
	}
}

// TestHeading checks lines that go on, and the mark of a row that hurts.
func TestHeading(t *testing.T) {
	r, err := Parse("07-long-name.conf", "# row: what was\n#  done: it\n# told: less, taken back\n# expect: hurts\n# hosts: 3\n# source: a: b\n# target: web\nsendfile on;")
	if err != nil || r.Row != "what was done: it" || !r.Hurts || r.Hosts != 3 || r.Source != "a: b" || r.Number != 7 || r.Name != "long-name" {
		t.Errorf("%+v %v", r, err)
	}
}

// TestMistakes checks that each mistake has its line and a hint.
func TestMistakes(t *testing.T) {
	conf := headed + "# target: web\n" // 4 lines
	for _, c := range []struct {
		name, text string
		line       int
		want       string // in the error and its hint
	}{
		{"1-a.sql", "", 1, "NN-name"},
		{"01-A.sql", "", 1, "NN-name"},
		{"01-a.yaml", "", 1, ".sql, .conf, .patch or .toml"},
		{"00-a.conf", conf + "sendfile on;", 1, "from 01"},
		{"01-a.conf", "sendfile on;", 1, "the heading has no row"},
		{"01-a.conf", "# row:\n# told: x\n# source: x\n# target: web\nsendfile on;", 1, "no row"},
		{"01-a.conf", headed + "sendfile on;", 1, "no target"},
		{"01-a.conf", conf + "# row: again\nsendfile on;", 5, `"row" is there twice`},
		{"01-a.conf", headed + "# taget: web\nsendfile on;", 4, "did you mean target?"},
		{"01-a.conf", "# what was done\n" + conf + "sendfile on;", 1, "begins without a key"},
		{"01-a.conf", conf + "# expect: helps\nsendfile on;", 5, "the only value is hurts"},
		{"01-a.conf", conf + "# hosts: two\nsendfile on;", 5, "how many machines"},
		{"01-a.conf", conf + "# hosts: 9\nsendfile on;", 5, "how many machines"},
		{"01-a.conf", conf + "# schema: s\nsendfile on;", 5, "a .conf file has no schema"},
		{"01-a.toml", headed + "# target: app\n", 4, "a .toml file has no target"},
		{"01-a.conf", conf, 5, "nothing follows the heading"},
		{"01-a.conf", conf + "\n\nsendfile on", 7, "not a directive"},
		{"01-a.conf", conf + "location / { }", 5, "not a directive"},
		{"01-a.conf", conf + "sendfil on;", 5, "did you mean \"sendfile\""},
		{"01-a.conf", conf + "sendfile on;\n[mysqld]\n", 6, "for one server"},
		{"01-a.conf", conf + "[mysqld]\nsync_binlog = 0\nsync-binlog = 1\n", 7, "set twice"},
		{"01-a.conf", conf + "[mysqld]\nsync_binlog\n", 6, "name = value"},
		{"01-a.conf", conf + "[mysqld]\nplugin_dir = /x\n", 5, "plugin_dir"},
		{"01-a.sql", sqlHeaded + "\nDROP INDEX i ON t;\n\nDROP TABLE t;", 9, "not a statement about an index"},
		{"01-a.sql", sqlHeaded + "DROP INDEX i ON t", 6, "has no ;"},
		{"01-a.sql", strings.Replace(sqlHeaded, "-- schema: s\n", "", 1) + "DROP INDEX i ON t;", 1, "no schema"},
		{"01-a.patch", headed + "# target: app\n\n", 5, "nothing follows"},
		{"01-a.patch", headed + "# target: app\n# weakens: speed\n--- a/x\n+++ b/x\n", 6, `"speed" is not a promise`},
		{"01-a.toml", headed + "x = 1\n", 4, "unknown key x"},
		{"01-a.toml", headed + "\n[[remedy]]\nkind = \n", 6, "[[remedy]] tables"},
		{"01-a.toml", headed + "\n[[remedy]]\nkind = \"ddl\"\n", 5, "without a kind or a target"},
		{"01-a.toml", headed + "[[remedy]]\nkind = \"appenv\"\ntarget = \"app\"\nargs = { pool = \"9\" }\n[[remedy]]\nkind = \"magic\"\ntarget = \"app\"\n", 8, `no kind "magic"`},
		{"01-a.toml", headed + "[[remedy]]\nkind = \"appenv\"\ntarget = \"app\"\nargs = { pool = 9 }\n", 7, "every argument is a string"},
		{"01-a.toml", headed + "[[remedy]]\nkind = \"appenv\"\ntarget = \"app\"\nproof = [\"fast\"]\n", 4, "unknown proof"},
	} {
		_, err := Parse(c.name, c.text)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s %q: %v", c.name, c.text, err)
			continue
		}
		if all := err.Error() + strings.Join(e.Hints(), ""); e.Line != c.line || e.File != c.name || !strings.Contains(all, c.want) || !strings.HasPrefix(err.Error(), c.name+":") {
			t.Errorf("%s %q: line %d: %s, want line %d: %s", c.name, c.text, e.Line, all, c.line, c.want)
		}
	}
}

// TestRead checks that the rungs are numbered without a gap.
func TestRead(t *testing.T) {
	conf := &fstest.MapFile{Data: []byte(headed + "# target: web\nsendfile on;\n")}
	rungs, err := Read(fstest.MapFS{"01-a.conf": conf, "02-b.conf": conf})
	if err != nil || len(rungs) != 2 || rungs[1].Number != 2 || rungs[1].File != "02-b.conf" {
		t.Errorf("%+v %v", rungs, err)
	}
	for _, files := range []fstest.MapFS{{"01-a.conf": conf, "03-b.conf": conf}, {"01-a.conf": conf, "01-b.conf": conf}, {"02-a.conf": conf}, {"01-a.conf": conf, "README": conf}} {
		var e *Error
		if rungs, err := Read(files); !errors.As(err, &e) || len(e.Hints()) == 0 {
			t.Errorf("%v: %+v %v", files, rungs, err)
		}
	}
	if _, err := Read(fstest.MapFS{"01-a.conf": {Mode: fs.ModeDir}}); err == nil {
		t.Error("a folder was read as a rung")
	}
}

// FuzzParse checks that any text is read without a panic, that errors have a line of
// the file, and that each rung has remedies.
func FuzzParse(f *testing.F) {
	for i, body := range []string{sqlHeaded + "ALTER TABLE t ADD INDEX i (a), DROP INDEX j;", headed + "# target: web\nsendfile on;", headed + "# target: db\n[mysqld]\nsync_binlog = 0",
		headed + "# target: app\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", headed + "[[remedy]]\nkind = \"appenv\"\ntarget = \"app\"\nargs = { pool = \"9\" }\n"} {
		f.Add(uint8(i), body)
	}
	names := []string{"01-a.sql", "01-a.conf", "01-a.conf", "01-a.patch", "01-a.toml"}
	f.Fuzz(func(t *testing.T, which uint8, text string) {
		r, err := Parse(names[int(which)%len(names)], text)
		var e *Error
		switch {
		case err == nil && (len(r.Remedies) == 0 || r.Row == "" || r.Told == ""):
			t.Fatalf("%+v", r)
		case err != nil && (!errors.As(err, &e) || e.Line < 1 || e.Line > strings.Count(text, "\n")+1 || e.Err == nil):
			t.Fatalf("error without a line of the text: %v", err)
		}
	})
}
