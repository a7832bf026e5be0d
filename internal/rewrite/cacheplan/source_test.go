package cacheplan

import (
	"go/parser"
	"go/token"
	"reflect"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/rewrite/sqlcache"
)

func TestDefinitions(t *testing.T) {
	tables, triggers := Definitions("-- a dump; of a table\nDROP TABLE IF EXISTS `a`;\nCREATE TABLE `a` (id INT, s VARCHAR(9) DEFAULT ';');\n" +
		"INSERT INTO a VALUES (1, 'x');\nALTER TABLE a ADD UNIQUE (id);\n/*!50003 CREATE*/ /*!50003 TRIGGER t1 BEFORE INSERT ON `A`\nFOR EACH ROW SET @x = 1 */;;\nCREATE TABLE b (id INT)")
	want := []string{"CREATE TABLE `a` (id INT, s VARCHAR(9) DEFAULT ';')", "ALTER TABLE a ADD UNIQUE (id)", "CREATE TABLE b (id INT)"}
	if !reflect.DeepEqual(tables, want) || !reflect.DeepEqual(triggers, []string{"a"}) {
		t.Errorf("%q %q", tables, triggers)
	}
}

func TestReadSchemaRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"CREATE TABLE a (":                  "reading a table's definition",
		"DROP TABLE a":                      "creates no table",
		"ALTER TABLE a ADD COLUMN b INT":    "as they are now",
		"ALTER TABLE a MODIFY COLUMN b INT": "as they are now",
	} {
		if _, err := ReadSchema([]string{text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestFiles: what an app gets is Go that parses, imports the standard library
// only, and says the same plan.
func TestFiles(t *testing.T) {
	plan, _ := Build(schema(t), []string{"SELECT * FROM users WHERE id = ?", "SELECT id FROM users WHERE name = 'a\"b'", "UPDATE users SET score = ? WHERE id = 5"})
	files, err := FilesFor(plan, "mysql")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			if strings.Contains(i.Path.Value, ".") || strings.Contains(name, "_test") {
				t.Errorf("%s imports %s", name, i.Path.Value)
			}
		}
	}
	for _, want := range []string{`{Column: "id", Literals: []interface{}{int64(5)}}`, `{Column: "id", Groups: []int{0}}`, `Literals: []interface{}{"a\"b"}`} {
		if !strings.Contains(string(files["app_plan.go"]), want) {
			t.Errorf("the plan has no %s:\n%s", want, files["app_plan.go"])
		}
	}
}

func FuzzDefinitions(f *testing.F) {
	f.Add("CREATE TABLE a (b INT);ALTER TABLE a ADD KEY (b);/* TRIGGER x BEFORE INSERT ON y")
	f.Fuzz(func(t *testing.T, s string) {
		tables, _ := Definitions(s)
		for _, d := range tables {
			if !strings.Contains(s, d) {
				t.Errorf("%q is no part of %q", d, s)
			}
		}
		_, _ = ReadSchema(tables)
	})
}

// FuzzBuild: any statement gives a plan that the cache takes.
func FuzzBuild(f *testing.F) {
	for _, c := range table {
		f.Add(c.text)
	}
	s, err := ReadSchema(creates)
	if err != nil {
		f.Fatal(err)
	}
	s.Strict = true
	f.Fuzz(func(t *testing.T, text string) {
		plan, _ := Build(s, []string{"SELECT * FROM users WHERE id = ?", text})
		if _, err := sqlcache.New(plan, sqlcache.Options{Bytes: 1 << 20}); err != nil {
			t.Error(err)
		}
	})
}
