package sqlschema

import (
	"reflect"
	"testing"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// TestRefused: what could be a key and is not understood is an error.
func TestRefused(t *testing.T) {
	for _, text := range []string{"CREATE TABLE t (a INT, UNIQUE KEY u)", "CREATE TABLE t (a INT, PRIMARY KEY ())", "CREATE TABLE t (a INT, FOREIGN KEY (a))",
		"CREATE TABLE t LIKE u", "CREATE TABLE t (a INT,)", "CREATE TABLE t (1)", "CREATE UNIQUE INDEX i ON t", "CREATE TABLE t (a INT REFERENCES (b))", "CREATE TABLE t"} {
		s, ok := Of(sqltext.MySQL.Statements(text)[0])
		if !ok {
			t.Errorf("%q defines no table", text)
		}
		if d, err := s.Read(); err == nil {
			t.Errorf("%q was read as %+v", text, d)
		}
	}
}

// TestOtherActions: an ALTER lists what it does besides adding keys.
func TestOtherActions(t *testing.T) {
	s, _ := Of(sqltext.MySQL.Statements("ALTER ONLINE TABLE `a`.`t` ADD UNIQUE (b), DROP COLUMN c, ADD COLUMN key_of INT, ADD CONSTRAINT f FOREIGN KEY (d) REFERENCES u (e)")[0])
	d, err := s.Read()
	if err != nil || len(d.Keys) != 2 || len(d.Other) != 2 || d.Schema != "a" || d.Table != "t" || !reflect.DeepEqual(d.Keys[0].Columns(), []string{"b"}) || d.Keys[1].Refers.Table != "u" {
		t.Errorf("%+v %v", d, err)
	}
}

// TestUniqueColumns: a prefix, an expression and a condition make no column unique.
func TestUniqueColumns(t *testing.T) {
	for text, want := range map[string]int{"UNIQUE (A, b DESC)": 2, "UNIQUE (a(3))": 0, "UNIQUE ((lower(a)))": 0, "UNIQUE (lower(a))": 0, "KEY (a)": 0, "PRIMARY KEY USING BTREE (a)": 1, "UNIQUE (a, p WITHOUT OVERLAPS)": 0} {
		tokens, _ := sqltext.MySQL.Tokens(text)
		if k, ok := KeyOf(tokens); !ok || len(k.Columns()) != want {
			t.Errorf("%s: %+v %v", text, k, ok)
		}
	}
}

// FuzzRead checks that reading any text ends, and that what is read lies in the text.
func FuzzRead(f *testing.F) {
	for _, s := range []string{odd, "CREATE TABLE t (key TEXT PRIMARY KEY, [a] INT CHECK (a > 0));", "ALTER TABLE t ADD (a INT), ADD KEY (a)", "DROP INDEX a ON b", "CREATE TABLE a.b (c serial, CONSTRAINT"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range []sqltext.Dialect{sqltext.Unknown, sqltext.MySQL, sqltext.SQLite, sqltext.PostgreSQL} {
			for _, statement := range d.Statements(text) {
				s, ok := Of(statement)
				if !ok {
					continue
				}
				if s.From < s.Start || s.To > s.End || s.From > s.To {
					t.Fatalf("the name %d:%d is not in the statement %d:%d of %q", s.From, s.To, s.Start, s.End, text)
				}
				_ = s.Options()
				def, err := s.Read()
				if err != nil {
					continue
				}
				for _, c := range def.Columns {
					if c.Name == "" {
						t.Fatalf("a column without a name in %q", text)
					}
					_ = c.ServerType()
				}
				for _, k := range def.Keys {
					if len(k.Parts) == 0 {
						t.Fatalf("a key without parts in %q", text)
					}
				}
				for _, it := range append(s.Actions(), def.Other...) {
					if it.Start < 0 || it.End > len(text) {
						t.Fatalf("%+v is not in %q", it, text)
					}
				}
			}
		}
	})
}
