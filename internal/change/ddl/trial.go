package ddl

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/iikanji/iikanji/internal/change"
)

// trialTable is the temporary copy. It hides no table of a site's, and goes
// with the connection, however that ends.
const trialTable = "iikanji_trial_of_an_index"

// trial alters an empty temporary copy there and back, and returns the
// definition in between, as the real table will show it.
func trial(ctx context.Context, conn *sql.Conn, schema, table, before string, a alter) (after string, err error) {
	name := quote(schema) + "." + quote(trialTable)
	real := quote(schema) + "." + quote(table)
	exec := func(stmt string) error { _, err := conn.ExecContext(ctx, stmt); return err }
	if err := exec("CREATE TEMPORARY TABLE " + name + " LIKE " + real); err != nil {
		return "", fmt.Errorf("trying the change on a temporary copy: %w", err)
	}
	defer func() {
		if e := exec("DROP TEMPORARY TABLE " + name); err == nil && e != nil {
			err = fmt.Errorf("dropping the temporary copy: %w", e)
		}
	}()
	shown := func() (string, error) { return asReal(ctx, conn, name, table, before) }
	if text, err := shown(); err != nil {
		return "", err
	} else if text != before {
		return "", fmt.Errorf("a copy of %s is defined otherwise than the table itself:\n%s\nand\n%s", table, text, before)
	}
	if err := exec(statement(name, a.do)); err != nil {
		return "", fmt.Errorf("trying %q on an empty copy: %w", strings.Join(a.do, ", "), err)
	}
	if after, err = shown(); err != nil {
		return "", err
	}
	if err := exec(statement(name, a.undo)); err != nil {
		return "", fmt.Errorf("trying the undo %q on an empty copy: %w", strings.Join(a.undo, ", "), err)
	}
	if text, err := shown(); err != nil {
		return "", err
	} else if text != before {
		return "", fmt.Errorf("the undo would not lead back to the definition of %s, but to\n%s", table, text)
	}
	return after, nil
}

// asReal is the copy's definition as the real table would show it.
func asReal(ctx context.Context, conn *sql.Conn, name, table, before string) (string, error) {
	text, err := change.TableDefinition(ctx, conn, name)
	if err != nil {
		return "", err
	}
	d, ok := parseDefinition(text)
	was, ok2 := parseDefinition(before)
	if !ok || !ok2 {
		return "", fmt.Errorf("the definition of %s is not understood:\n%s", table, text)
	}
	d.head = was.head
	return d.withConstraints(was.constraints()).String(), nil
}
