package change

import (
	"reflect"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/machine/sqlitefile"
)

func TestFileOrder(t *testing.T) {
	sum := strings.Repeat("0af", 21) + "9"
	for _, o := range []FileOrder{
		{Statements: []string{"CREATE INDEX \"a\" ON \"t\" (\"b\" DESC)", "DROP INDEX \"c;d\""}, Before: FingerprintOf(nil), After: FingerprintOf([]byte("x"))},
		{Before: FingerprintOf(nil), After: FingerprintOf([]byte("x")), Originals: sqlitefile.Originals{Folder: "/w/initial data", Store: "/w/.kept/1",
			Files: []sqlitefile.Sum{{Name: "1.db", SHA: sum}, {Name: "a/2 3.db", SHA: sum}}}},
	} {
		got, err := ParseFileOrder(o.String())
		if err != nil || !reflect.DeepEqual(got, o) {
			t.Errorf("%s\nis read as %+v, %v", o, got, err)
		}
	}
	whole := FileOrder{Before: FingerprintOf(nil), After: FingerprintOf([]byte("x")), Originals: sqlitefile.Originals{Folder: "/w", Store: "/s", Files: []sqlitefile.Sum{{Name: "1.db", SHA: sum}}}}.String()
	for _, bad := range []string{"", "CREATE INDEX a", "CREATE INDEX a;\n", "-- table a becomes b", strings.Replace(whole, "1.db", "../1.db", 1),
		strings.Replace(whole, "below /w", "below /w/../x", 1), strings.Replace(whole, "becomes", "was", 1), whole + "\nrest"} {
		if o, err := ParseFileOrder(bad); err == nil {
			t.Errorf("%q is read as %+v", bad, o)
		}
	}
}

// FuzzFileOrder reads orders from a journal: what is read is written as it was.
func FuzzFileOrder(f *testing.F) {
	f.Add(FileOrder{Statements: []string{"DROP INDEX \"x\""}, Before: FingerprintOf(nil), After: FingerprintOf([]byte("x")),
		Originals: sqlitefile.Originals{Folder: "/w", Store: "/s", Files: []sqlitefile.Sum{{Name: "1.db", SHA: string(FingerprintOf(nil))}}}}.String())
	f.Fuzz(func(t *testing.T, body string) {
		if o, err := ParseFileOrder(body); err == nil && len(o.Originals.Files) > 0 && o.String() != body {
			t.Errorf("%q is written as %q", body, o)
		}
	})
}
