package ddl

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// schemaFileArg is the value of the argument "into".
const schemaFileArg = "schema file"

// Wiped implements change.Laster.
func (Kind) Wiped(ctx context.Context, s *change.Site, c *iikanji.Change) (bool, error) {
	wiped := false
	for _, undo := range c.Undo {
		if undo.Verb != iikanji.SQL {
			continue
		}
		now, err := s.State(ctx, undo)
		if err != nil {
			return false, fmt.Errorf("checking whether initialize undid change %d: %w", c.ID, err)
		}
		if now == undo.Expect {
			continue
		}
		for _, do := range c.Do {
			if do.Verb == iikanji.SQL && do.Place == undo.Place && do.Expect != now {
				return false, fmt.Errorf("%s, of change %d: %w", do.Place, c.ID, change.ErrForeignState)
			}
		}
		wiped = true
	}
	return wiped, nil
}

// IntoSchemaFile implements change.Laster.
func (Kind) IntoSchemaFile(r iikanji.Remedy) iikanji.Remedy {
	r.Args = maps.Clone(r.Args)
	if r.Args == nil {
		r.Args = map[string]string{}
	}
	r.Args["into"] = schemaFileArg
	return r
}

// InSchemaFile implements change.Laster.
func (Kind) InSchemaFile(r iikanji.Remedy) bool { return r.Args["into"] == schemaFileArg }

// byExecuted selects among several files that create the table: it takes the
// file whose CREATE TABLE is among the statements that initialize executed,
// according to a log of the server. Space and comments are ignored.
func byExecuted(ctx context.Context, s *change.Site, r iikanji.Remedy, executed []string) (iikanji.Remedy, error) {
	r = Kind{}.IntoSchemaFile(r)
	found, err := searchFiles(ctx, s, table{dialect: sqltext.MySQL, schema: r.Args["schema"], name: r.Args["table"]})
	if err != nil {
		return r, err
	}
	seen := map[string]bool{}
	for _, sql := range executed {
		for _, st := range sqltext.MySQL.Statements(sql) {
			seen[normal(st)] = true
		}
	}
	var fits []schemaFile
	for _, f := range found.found {
		if seen[normal(f.defs[0].Statement)] {
			fits = append(fits, f)
		}
	}
	switch len(fits) {
	case 0:
		return r, fmt.Errorf("initialize executed the CREATE TABLE of none of the files that make table %s (%s)", found.name, paths(found.found))
	case 1:
		r.Args["file"] = fits[0].location()
		return r, nil
	}
	return r, fmt.Errorf("%s make table %s alike: which of them initialize executes is not known", paths(fits), found.name)
}

// normal returns a statement without space and comments.
func normal(st sqltext.Statement) string {
	var b strings.Builder
	for _, t := range st.Tokens {
		b.WriteString(t.Text)
		b.WriteByte(0)
	}
	return b.String()
}
