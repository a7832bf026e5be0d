package sqlschema

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// schemas are the schema files of the repository's apps, by the dialect that they are for.
func schemas(t *testing.T) map[string]sqltext.Dialect {
	out := map[string]sqltext.Dialect{}
	for _, pattern := range []string{"arenas/*/files/sql/*chema.sql", "arenas/*/files/sql/*/*chema.sql", "arenas/*/files/mysql/db/*chema.sql", "fixtures/*/schema.sql", "internal/rewrite/testdata/apps/*/schema.sql"} {
		files, err := filepath.Glob("../../../" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			out[f] = sqltext.MySQL
			if strings.Contains(f, "/tenant/") {
				out[f] = sqltext.SQLite
			}
		}
	}
	if len(out) < 8 {
		t.Fatalf("only %d schema files: %v", len(out), out)
	}
	return out
}

// odd are definitions that few apps have.
const odd = "CREATE TABLE odd (`a b` INT UNSIGNED NOT NULL, \n b DECIMAL(10, 2) DEFAULT (1+2), c CHARACTER VARYING(20) CHARACTER SET latin1 COLLATE latin1_bin COMMENT 'x, PRIMARY KEY (b)',\n" +
	"d ENUM('a,b','c)') NOT NULL, e TIMESTAMP NULL DEFAULT NULL ON UPDATE CURRENT_TIMESTAMP, f INT AS (b+1) STORED, g DOUBLE PRECISION, h BINARY(16) UNIQUE, i BOOL,\n" +
	"j NATIONAL CHAR(3), k INT SIGNED, l NUMERIC(5), m BIGINT ZEROFILL, n POINT NOT NULL, o TEXT, p LONG VARCHAR, q INTEGER AUTO_INCREMENT KEY, r CHAR, s BIT, t YEAR, u DATETIME(6), -- , v INT\n" +
	"CONSTRAINT x UNIQUE y (b, c(10) DESC), KEY (o(20)), SPATIAL KEY (n), FULLTEXT KEY ft (o), CHECK (b > 0), CONSTRAINT z CHECK (b < 100), INDEX USING BTREE (g), UNIQUE (b)) ENGINE=InnoDB;\n" +
	"CREATE TABLE child (id BIGINT PRIMARY KEY, odd INT, other INT, FOREIGN KEY fk (odd) REFERENCES odd (q) ON DELETE SET NULL ON UPDATE CASCADE);\n" +
	"CREATE UNIQUE INDEX later ON odd (c, b); ALTER TABLE odd ADD INDEX added (i, j), ADD UNIQUE KEY added2 (k);"

// TestMariaDB compares what is read of the apps' schema files with what MariaDB makes of them.
func TestMariaDB(t *testing.T) {
	tier.Slow(t)
	server, err := factstest.Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	texts := map[string]string{"odd": odd}
	for name, dialect := range schemas(t) {
		body, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if dialect == sqltext.MySQL {
			texts[name] = string(body)
		}
	}
	n := 0
	for name, text := range texts {
		n++
		db, err := server.Open(t.Context(), fmt.Sprintf("schema%d", n))
		if err != nil {
			t.Fatal(err)
		}
		compare(t, name, db, sqltext.MySQL, text, mariadbTable)
		db.Close()
	}
}

// TestSQLite compares what is read of schema files with what SQLite makes of them.
func TestSQLite(t *testing.T) {
	texts := map[string]string{"odd": "CREATE TABLE kv (key TEXT PRIMARY KEY NOT NULL, [value x] DEFAULT '\\', \"index\" VARCHAR(10) NOT NULL UNIQUE, n INTEGER, CONSTRAINT u UNIQUE (n, key DESC)) WITHOUT ROWID;\n" +
		"CREATE TABLE IF NOT EXISTS b (id INTEGER PRIMARY KEY AUTOINCREMENT, k TEXT REFERENCES kv(key) ON DELETE CASCADE, c GENERATED ALWAYS AS (id+1), CHECK (id > 0)); CREATE UNIQUE INDEX part ON b (k) WHERE k > 'a';\n" +
		"CREATE UNIQUE INDEX ex ON b (lower(k)); CREATE INDEX plain ON b (k COLLATE NOCASE DESC, id);"}
	for name, dialect := range schemas(t) {
		body, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if dialect == sqltext.SQLite {
			texts[name] = string(body)
		}
	}
	for name, text := range texts {
		db, err := sql.Open("sqlite", ":memory:")
		if err != nil {
			t.Fatal(err)
		}
		db.SetMaxOpenConns(1)
		compare(t, name, db, sqltext.SQLite, text, sqliteTable)
		db.Close()
	}
}

// compare executes the statements of a text that define tables, reads them, and compares
// both for each table.
func compare(t *testing.T, name string, db *sql.DB, d sqltext.Dialect, text string, shown func(context.Context, *sql.DB, string) (string, error)) {
	t.Helper()
	tables := map[string]*Definition{}
	for _, s := range d.Statements(text) {
		st, ok := Of(s)
		if !ok {
			continue
		}
		if _, err := db.ExecContext(t.Context(), st.File[st.Start:st.From]+st.Table+st.File[st.To:st.End]); err != nil {
			t.Errorf("%s: the server refuses %s: %v", name, s.Text(), err)
			continue
		}
		def, err := st.Read()
		switch known := tables[st.Table]; {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case st.Verb == CreateTable:
			tables[st.Table] = &def
		case known != nil:
			known.Keys = append(known.Keys, def.Keys...)
		}
	}
	if len(tables) == 0 {
		t.Errorf("%s: no table was compared", name)
	}
	for table, def := range tables {
		want, err := shown(t.Context(), db, table)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := printed(def, d); got != want {
			t.Errorf("%s: table %s\ngot\n%s\nwant\n%s", name, table, got, want)
		}
	}
}

// printed lists the columns in their order and the keys in alphabetical order, as the
// servers' own lists are printed below.
func printed(d *Definition, dialect sqltext.Dialect) string {
	var lines, keys []string
	for _, c := range d.Columns {
		kind := strings.ToUpper(c.Type)
		if dialect == sqltext.MySQL {
			kind = c.ServerType()
		}
		lines = append(lines, fmt.Sprintf("%s %s notnull=%v auto=%v computed=%v", c.Name, kind, c.NotNull, c.Auto, c.Computed))
	}
	for _, k := range d.Keys {
		var parts []string
		for _, p := range k.Parts {
			parts = append(parts, cmp.Or(p.Column, "?"))
			if p.Prefix > 0 {
				parts[len(parts)-1] += fmt.Sprintf("(%d)", p.Prefix)
			}
			if p.Desc {
				parts[len(parts)-1] += " desc"
			}
		}
		line := strings.Join(parts, ",")
		if r := k.Refers; r != nil {
			line += " refers " + r.Table + " " + strings.Join(r.Columns, ",") + " " + cmp.Or(r.OnDelete, "RESTRICT") + " " + cmp.Or(r.OnUpdate, "RESTRICT")
		} else {
			line += fmt.Sprintf(" unique=%v", (k.Sort == Primary || k.Sort == Unique))
			if k.Partial {
				line += " partial"
			}
		}
		keys = append(keys, line)
	}
	slices.Sort(keys)
	return strings.Join(append(lines, keys...), "\n")
}

func mariadbTable(ctx context.Context, db *sql.DB, table string) (string, error) {
	columns, err := column(ctx, db, `SELECT CONCAT(COLUMN_NAME, ' ', COLUMN_TYPE, ' notnull=', IF(IS_NULLABLE = 'NO', 'true', 'false'), ' auto=', IF(EXTRA LIKE '%auto_increment%', 'true', 'false'),
		' computed=', IF(EXTRA LIKE '%GENERATED%', 'true', 'false')) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION`, table)
	if err != nil {
		return "", err
	}
	// InnoDB needs an index for a foreign key, which no statement names.
	keys, err := column(ctx, db, `SELECT CONCAT(GROUP_CONCAT(CONCAT(COLUMN_NAME, IF(SUB_PART IS NULL OR INDEX_TYPE = 'SPATIAL', '', CONCAT('(', SUB_PART, ')')), IF(COLLATION = 'D', ' desc', '')) ORDER BY SEQ_IN_INDEX), ' unique=', IF(NON_UNIQUE, 'false', 'true'))
		FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?
		AND INDEX_NAME NOT IN (SELECT CONSTRAINT_NAME FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = DATABASE())
		GROUP BY INDEX_NAME, NON_UNIQUE
		UNION ALL SELECT CONCAT((SELECT GROUP_CONCAT(COLUMN_NAME ORDER BY ORDINAL_POSITION) FROM information_schema.KEY_COLUMN_USAGE k WHERE k.CONSTRAINT_SCHEMA = r.CONSTRAINT_SCHEMA AND k.CONSTRAINT_NAME = r.CONSTRAINT_NAME AND k.TABLE_NAME = r.TABLE_NAME), ' refers ', REFERENCED_TABLE_NAME, ' ',
		(SELECT GROUP_CONCAT(REFERENCED_COLUMN_NAME ORDER BY ORDINAL_POSITION) FROM information_schema.KEY_COLUMN_USAGE k WHERE k.CONSTRAINT_SCHEMA = r.CONSTRAINT_SCHEMA AND k.CONSTRAINT_NAME = r.CONSTRAINT_NAME AND k.TABLE_NAME = r.TABLE_NAME), ' ', DELETE_RULE, ' ', UPDATE_RULE)
		FROM information_schema.REFERENTIAL_CONSTRAINTS r WHERE CONSTRAINT_SCHEMA = DATABASE() AND TABLE_NAME = ?`, table, table)
	if err != nil {
		return "", err
	}
	slices.Sort(keys)
	return strings.Join(append(columns, keys...), "\n"), nil
}

func sqliteTable(ctx context.Context, db *sql.DB, table string) (string, error) {
	columns, err := column(ctx, db, `SELECT c.name || ' ' || upper(c.type) || ' notnull=' || iif("notnull" OR pk, 'true', 'false')
		|| ' auto=' || iif(pk AND s.sql LIKE '%AUTOINCREMENT%', 'true', 'false') || ' computed=' || iif(hidden > 1, 'true', 'false')
		FROM pragma_table_xinfo(?) c, sqlite_schema s WHERE s.name = ? AND s.type = 'table' ORDER BY cid`, table, table)
	if err != nil {
		return "", err
	}
	keys, err := column(ctx, db, `SELECT (SELECT group_concat(coalesce(x.name, '?') || iif(x.desc, ' desc', ''), ',') FROM pragma_index_xinfo(i.name) x WHERE x.key) || ' unique=' || iif(i."unique", 'true', 'false') || iif(i.partial, ' partial', '')
		FROM pragma_index_list(?) i
		UNION ALL SELECT name || ' unique=true' FROM pragma_table_info(?) WHERE pk AND type = 'INTEGER' AND NOT EXISTS (SELECT 1 FROM pragma_index_list(?) WHERE origin = 'pk')
		UNION ALL SELECT "from" || ' refers ' || "table" || ' ' || "to" || ' ' || iif(on_delete = 'NO ACTION', 'RESTRICT', on_delete) || ' ' || iif(on_update = 'NO ACTION', 'RESTRICT', on_update) FROM pragma_foreign_key_list(?)`, table, table, table, table)
	if err != nil {
		return "", err
	}
	slices.Sort(keys)
	return strings.Join(append(columns, keys...), "\n"), nil
}

func column(ctx context.Context, db *sql.DB, query string, args ...any) (out []string, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}
