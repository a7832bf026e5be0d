package change

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
)

// A Laster is a kind with changes of tables, which the benchmark's initialize
// undoes when it creates the tables again. It can make them in the schema file
// that initialize loads, too.
type Laster interface {
	Kind
	// IntoSchemaFile is the remedy that also edits the schema file. A plain
	// change must be reverted first.
	IntoSchemaFile(r iikanji.Remedy) iikanji.Remedy
	// InSchemaFile reports whether a remedy edits the schema file.
	InSchemaFile(r iikanji.Remedy) bool
	// Wiped reports whether initialize undid an applied change: a table is as it
	// was before the change. A table in any other state than before and after the
	// change is an error that wraps ErrForeignState.
	Wiped(ctx context.Context, s *Site, c *iikanji.Change) (bool, error)
}

// ErrForeignState is the error of a place that is neither as a change found it
// nor as it left it.
var ErrForeignState = errors.New("neither as the change found it nor as it left it")

// IntoSchemaFile is the remedy that also edits the schema file; the remedy
// itself if its kind has no changes of tables.
func IntoSchemaFile(r iikanji.Remedy) iikanji.Remedy {
	if k, ok := registry[r.Kind].(Laster); ok {
		return k.IntoSchemaFile(r)
	}
	return r
}

// InSchemaFile reports whether a remedy edits the schema file.
func InSchemaFile(r iikanji.Remedy) bool {
	k, ok := registry[r.Kind].(Laster)
	return ok && k.InSchemaFile(r)
}

// Wiped reports whether initialize undid an applied change. See Laster.
func Wiped(ctx context.Context, s *Site, c *iikanji.Change) (bool, error) {
	if k, ok := registry[c.Kind].(Laster); ok {
		return k.Wiped(ctx, s, c)
	}
	return false, nil
}

// A WhichFileError is the refusal of a change whose table several schema files
// create alike.
type WhichFileError struct {
	Service string // the database
	Table   string
	Files   []string
	// Choose names the file in the remedy: the one whose CREATE TABLE is among
	// the statements that initialize executed.
	Choose func(ctx context.Context, executed []string) (iikanji.Remedy, error)
}

func (e *WhichFileError) Error() string {
	return fmt.Sprintf("%s all create table %s, and which of them initialize executes is not known", strings.Join(e.Files, ", "), e.Table)
}
