package field

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// contents returns the number of rows and the checksum of every table of every
// database of the site, by table. With several databases, the name of the service is
// the prefix.
func (f *Field) contents(ctx context.Context) (map[string]string, error) {
	sums := map[string]string{}
	databases := f.Subject.Target().WithRole(iikanji.RoleDatabase)
	for _, s := range databases {
		db := f.Subject.Site().Services[s.Name].DB()
		if db == nil {
			continue
		}
		prefix := ""
		if len(databases) > 1 {
			prefix = s.Name + "/"
		}
		if err := sumTables(ctx, db, prefix, sums); err != nil {
			return nil, err
		}
	}
	return sums, nil
}

func sumTables(ctx context.Context, db *sql.DB, prefix string, sums map[string]string) error {
	tables, err := baseTables(ctx, db)
	if err != nil {
		return fmt.Errorf("listing the tables: %w", err)
	}
	for _, t := range tables {
		sum, err := contentsOf(ctx, db, t)
		if err != nil {
			return fmt.Errorf("reading the contents of %s: %w", t, err)
		}
		sums[prefix+t] = sum
	}
	return nil
}

// contentsOf returns the number of rows of a table and a checksum of its stored columns.
//
// CHECKSUM TABLE takes half of the time and is not used: with generated columns, its
// result for the same rows changes by a restart, by FLUSH TABLES or by a SELECT
// (MDEV-32079; seen with stored columns, too).
func contentsOf(ctx context.Context, db *sql.DB, table string) (string, error) {
	columns, err := storedColumns(ctx, db, table)
	if err != nil {
		return "", err
	}
	var n int64
	var sum sql.NullString // NULL without rows
	query := "SELECT COUNT(*), SUM(" + rowSum(columns) + ") FROM " + sqltext.MySQL.Quote(table)
	if err := db.QueryRowContext(ctx, query).Scan(&n, &sum); err != nil {
		return "", err
	}
	text := strconv.FormatInt(n, 10)
	if sum.Valid {
		text += " (checksum " + sum.String + ")"
	}
	return text, nil
}

// rowSum returns the expression for the checksum of a row. Each column has a checksum
// of its own first: values of different character sets are never joined, no value is
// too long to join, and NULL differs from every value.
func rowSum(columns []string) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = "IFNULL(CRC32(" + sqltext.MySQL.Quote(c) + "), 'NULL')"
	}
	return "CRC32(CONCAT_WS(',', " + strings.Join(parts, ", ") + "))"
}

// storedColumns returns the names of the columns of a table in their order, without
// those that are computed when they are read.
func storedColumns(ctx context.Context, db *sql.DB, table string) ([]string, error) {
	rows, err := db.QueryContext(ctx, `SELECT COLUMN_NAME FROM information_schema.COLUMNS
WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? AND EXTRA NOT LIKE '%VIRTUAL GENERATED%'
ORDER BY ORDINAL_POSITION`, table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

func baseTables(ctx context.Context, db *sql.DB) ([]string, error) {
	rows, err := db.QueryContext(ctx, "SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var tables []string
	for rows.Next() {
		var name, kind string
		if err := rows.Scan(&name, &kind); err != nil {
			return nil, err
		}
		tables = append(tables, name)
	}
	return tables, rows.Err()
}
