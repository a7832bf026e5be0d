package field

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// contents returns the number of rows and the checksum of every table of every
// database of the site, by table. With several databases, the name of the service is
// the prefix.
func (f *Field) contents(ctx context.Context) (map[string]string, error) {
	sums := map[string]string{}
	databases := f.Subject.Target().WithRole(iikanji.RoleDatabase)
	for _, s := range databases {
		db := f.Subject.Site().Services[s.Name].DB
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
		var n int64
		if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+change.QuoteName(t)).Scan(&n); err != nil {
			return fmt.Errorf("counting the rows of %s: %w", t, err)
		}
		sums[prefix+t] = strconv.FormatInt(n, 10)
		sum, err := checksum(ctx, db, t)
		if err != nil {
			return fmt.Errorf("reading the checksum of %s: %w", t, err)
		}
		if sum.Valid {
			sums[prefix+t] += " (checksum " + sum.String + ")"
		}
	}
	return nil
}

// checksum returns a checksum of the rows of a table. It is not valid if the server
// has none, as for a table without rows.
//
// CHECKSUM TABLE is the fastest way. It is not used for a table with a virtual column:
// its result for the same rows is another one after a restart (MDEV-32079). The sum for
// such a table is computed from the columns that are stored.
func checksum(ctx context.Context, db *sql.DB, table string) (sql.NullString, error) {
	var sum sql.NullString
	stored, virtual, err := columns(ctx, db, table)
	if err != nil {
		return sum, err
	}
	if virtual == 0 {
		var name string
		err := db.QueryRowContext(ctx, "CHECKSUM TABLE "+change.QuoteName(table)).Scan(&name, &sum)
		return sum, err
	}
	err = db.QueryRowContext(ctx, "SELECT SUM("+rowSum(stored)+") FROM "+change.QuoteName(table)).Scan(&sum)
	return sum, err
}

// rowSum returns the expression for the checksum of a row. Each column has a checksum
// of its own first: values of different character sets are never joined, no value is
// too long to join, and NULL differs from every value.
func rowSum(columns []string) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = "IFNULL(CRC32(" + change.QuoteName(c) + "), 'NULL')"
	}
	return "CRC32(CONCAT_WS(',', " + strings.Join(parts, ", ") + "))"
}

// columns returns the names of the stored columns of a table in their order, and the
// number of its virtual columns.
func columns(ctx context.Context, db *sql.DB, table string) (stored []string, virtual int, err error) {
	rows, err := db.QueryContext(ctx, `SELECT COLUMN_NAME, EXTRA LIKE '%VIRTUAL GENERATED%'
FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?
ORDER BY ORDINAL_POSITION`, table)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var isVirtual bool
		if err := rows.Scan(&name, &isVirtual); err != nil {
			return nil, 0, err
		}
		if isVirtual {
			virtual++
		} else {
			stored = append(stored, name)
		}
	}
	return stored, virtual, rows.Err()
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
