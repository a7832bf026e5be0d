package field

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"

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
		quoted := change.QuoteName(t)
		var n int64
		var name string
		var sum *int64
		if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+quoted).Scan(&n); err != nil {
			return fmt.Errorf("counting the rows of %s: %w", t, err)
		}
		if err := db.QueryRowContext(ctx, "CHECKSUM TABLE "+quoted).Scan(&name, &sum); err != nil {
			return fmt.Errorf("reading the checksum of %s: %w", t, err)
		}
		sums[prefix+t] = strconv.FormatInt(n, 10)
		if sum != nil {
			sums[prefix+t] += fmt.Sprintf(" (checksum %d)", *sum)
		}
	}
	return nil
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
