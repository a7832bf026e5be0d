package change

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/sqlitefile"
)

// FilesPlace is the place of an op on a table in all SQLite files of a service:
// "service/files:table". OriginalsPlace is that of an op on the files that the site's
// initialize copies: "service/originals:table".
func FilesPlace(service, table string) string     { return service + "/files:" + table }
func OriginalsPlace(service, table string) string { return service + "/originals:" + table }

// A FileOrder is the body of an op on SQLite files. All that performing it needs is in
// it or in the op's place: an order can be performed again after a kill.
//
// As text it has the statements, each with ";" and a line end after it, and then
// comments:
//
//	CREATE INDEX "by_a" ON "t" ("a");
//	-- table BEFORE becomes AFTER
//	-- originals below FOLDER, kept in STORE
//	-- SHA-256 NAME
type FileOrder struct {
	Statements []string // none of one that restores originals
	// Before and After are the fingerprints of the table's definition in each file
	// before and after the statements.
	Before, After iikanji.Fingerprint
	// Originals are without Root. They have no files in an order on the live files.
	Originals sqlitefile.Originals
}

// String formats the order as the body of an op.
func (o FileOrder) String() string {
	var b strings.Builder
	for _, s := range o.Statements {
		b.WriteString(s + ";\n")
	}
	fmt.Fprintf(&b, "-- table %s becomes %s", o.Before, o.After)
	if len(o.Originals.Files) > 0 {
		fmt.Fprintf(&b, "\n-- originals below %s, kept in %s", o.Originals.Folder, o.Originals.Store)
	}
	for _, f := range o.Originals.Files {
		fmt.Fprintf(&b, "\n-- %s %s", f.SHA, f.Name)
	}
	return b.String()
}

var (
	tableLine    = regexp.MustCompile(`^-- table ([0-9a-f]{64}) becomes ([0-9a-f]{64})$`)
	keptLine     = regexp.MustCompile(`^-- originals below (/.*), kept in (/.*)$`)
	originalLine = regexp.MustCompile(`^-- ([0-9a-f]{64}) (.+)$`)
)

// ParseFileOrder parses what String formats.
func ParseFileOrder(body string) (FileOrder, error) {
	var o FileOrder
	statements, rest, ok := strings.Cut(body, "-- table ")
	if strings.HasPrefix(body, "-- table ") {
		statements, rest, ok = "", strings.TrimPrefix(body, "-- table "), true
	} else if i := strings.Index(body, ";\n-- table "); i >= 0 {
		statements, rest = body[:i+2], body[i+2+len("-- table "):]
	} else {
		ok = false
	}
	if !ok {
		return o, errors.New("reading an order on SQLite files: it has no line of its table")
	}
	for statements != "" {
		s, more, found := strings.Cut(statements, ";\n")
		if !found || s == "" {
			return o, errors.New("reading an order on SQLite files: a statement without its end")
		}
		o.Statements, statements = append(o.Statements, s), more
	}
	for i, line := range strings.Split("-- table "+rest, "\n") {
		switch i {
		case 0:
			m := tableLine.FindStringSubmatch(line)
			if m == nil {
				return o, fmt.Errorf("reading an order on SQLite files: %.100q is no line of its table", line)
			}
			o.Before, o.After = iikanji.Fingerprint(m[1]), iikanji.Fingerprint(m[2])
		case 1:
			m := keptLine.FindStringSubmatch(line)
			if m == nil || filepath.Clean(m[1]) != m[1] || filepath.Clean(m[2]) != m[2] {
				return o, fmt.Errorf("reading an order on SQLite files: %.100q names no folders", line)
			}
			o.Originals.Folder, o.Originals.Store = m[1], m[2]
		default:
			m := originalLine.FindStringSubmatch(line)
			if m == nil || !filepath.IsLocal(m[2]) {
				return o, fmt.Errorf("reading an order on SQLite files: %.100q is no original", line)
			}
			o.Originals.Files = append(o.Originals.Files, sqlitefile.Sum{SHA: m[1], Name: m[2]})
		}
	}
	return o, nil
}
