package facts

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/catalog"
)

// A SizedTable is a table with the data that changes by itself.
type SizedTable struct {
	catalog.Table
	Size catalog.TableSize

	ranges string // the FROM item of a sample by ranges of the primary key, "" without
}

// Tables reads the definition and size of all base tables of a schema, by name.
// Row counts are the server's estimates. Distinct values are known only for the
// first columns of indexes; see [Server.Distinct].
func (s *Server) Tables(ctx context.Context, schema string) ([]SizedTable, error) {
	rows, err := s.rows(ctx, `SELECT TABLE_NAME, ENGINE, TABLE_ROWS, DATA_LENGTH, INDEX_LENGTH
		FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_TYPE = 'BASE TABLE'`, schema)
	if err != nil {
		return nil, fmt.Errorf("reading the tables of %s: %w", schema, err)
	}
	var out []SizedTable
	at := map[string]int{}
	for _, r := range rows {
		at[r["table_name"]] = len(out)
		out = append(out, SizedTable{
			Table: catalog.Table{Schema: schema, Name: r["table_name"], Engine: r["engine"]},
			Size: catalog.TableSize{Rows: number(r["table_rows"]), Data: iikanji.Bytes(number(r["data_length"])),
				Index: iikanji.Bytes(number(r["index_length"])), Distinct: map[string]float64{}},
		})
	}
	find := func(name string) *SizedTable {
		if i, ok := at[name]; ok {
			return &out[i]
		}
		return nil
	}
	for _, read := range []func(context.Context, string, func(string) *SizedTable) error{s.columns, s.indexes, s.links} {
		if err := read(ctx, schema, find); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b SizedTable) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

func (s *Server) columns(ctx context.Context, schema string, find func(string) *SizedTable) error {
	rows, err := s.rows(ctx, `SELECT * FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ?
		ORDER BY TABLE_NAME, ORDINAL_POSITION`, schema)
	if err != nil {
		return fmt.Errorf("reading the columns of %s: %w", schema, err)
	}
	for _, r := range rows {
		t := find(r["table_name"])
		if t == nil {
			continue
		}
		c := catalog.Column{
			Name: r["column_name"], Type: strings.ToLower(r["column_type"]), Nullable: r["is_nullable"] == "YES",
			Collation: r["collation_name"], Auto: strings.Contains(r["extra"], "auto_increment"),
			Generated: strings.Contains(strings.ToUpper(r["extra"]), "GENERATED") && !strings.Contains(strings.ToUpper(r["extra"]), "DEFAULT_GENERATED"),
		}
		c.Width = width(c, strings.ToLower(r["data_type"]), number(r["character_octet_length"]))
		if v := r["srs_id"]; v != "" {
			srid := int(number(v))
			c.SRID = &srid
		}
		t.Columns = append(t.Columns, c)
	}
	return nil
}

// fixedWidths are the stored bytes of types of fixed size, as the MySQL manual
// gives them under "Data Type Storage Requirements", with fractional seconds of
// the highest precision.
var fixedWidths = map[string]iikanji.Bytes{
	"tinyint": 1, "smallint": 2, "mediumint": 3, "int": 4, "bigint": 8, "float": 4, "double": 8, "bit": 8,
	"date": 3, "year": 1, "datetime": 8, "timestamp": 7, "time": 6, "enum": 2, "set": 8, "uuid": 16,
	"inet6": 16, "inet4": 4, "decimal": 16,
}

// width is the largest number of bytes of a column in an index entry, 0 for long types.
func width(c catalog.Column, kind string, octets int64) iikanji.Bytes {
	if c.Long() || c.Spatial() {
		return 0
	}
	w, ok := fixedWidths[kind]
	if !ok {
		w = iikanji.Bytes(octets)
		if strings.HasPrefix(kind, "var") {
			w += 2
		}
	}
	if c.Nullable {
		w++
	}
	return w
}

func (s *Server) indexes(ctx context.Context, schema string, find func(string) *SizedTable) error {
	rows, err := s.rows(ctx, `SELECT * FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = ?
		ORDER BY TABLE_NAME, INDEX_NAME <> 'PRIMARY', INDEX_NAME, SEQ_IN_INDEX`, schema)
	if err != nil {
		return fmt.Errorf("reading the indexes of %s: %w", schema, err)
	}
	for _, r := range rows {
		if t := find(r["table_name"]); t != nil {
			t.indexPart(r)
		}
	}
	return nil
}

// indexPart adds one row of STATISTICS. A part that is an expression (MySQL from
// 8.0.13) has no column name; it becomes a part without a column, and its
// cardinality is not used for any column.
func (t *SizedTable) indexPart(r map[string]string) {
	if r["seq_in_index"] == "1" {
		t.Indexes = append(t.Indexes, catalog.Index{
			Name: r["index_name"], Kind: strings.ToLower(r["index_type"]), Unique: r["non_unique"] == "0",
			Primary: r["index_name"] == "PRIMARY", Hidden: r["ignored"] == "YES" || r["is_visible"] == "NO",
		})
		if n := number(r["cardinality"]); n > 0 && r["sub_part"] == "" && r["column_name"] != "" {
			t.Size.Distinct[r["column_name"]] = float64(n)
		}
	}
	ix := &t.Indexes[len(t.Indexes)-1]
	ix.Parts = append(ix.Parts, catalog.IndexPart{Column: r["column_name"], Desc: r["collation"] == "D", Prefix: prefix(ix.Kind, r["sub_part"])})
}

// prefix reads SUB_PART. For spatial indexes MariaDB reports 32, which has no meaning.
func prefix(kind, sub string) int {
	if kind == "spatial" || kind == "fulltext" {
		return 0
	}
	return int(number(sub))
}

func (s *Server) links(ctx context.Context, schema string, find func(string) *SizedTable) error {
	rows, err := s.rows(ctx, `SELECT * FROM information_schema.KEY_COLUMN_USAGE
		WHERE TABLE_SCHEMA = ? AND REFERENCED_TABLE_NAME IS NOT NULL
		ORDER BY TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION`, schema)
	if err != nil {
		return fmt.Errorf("reading the foreign keys of %s: %w", schema, err)
	}
	for _, r := range rows {
		t := find(r["table_name"])
		if t == nil {
			continue
		}
		if n := len(t.Links); n == 0 || t.Links[n-1].Name != r["constraint_name"] {
			to := r["referenced_table_name"]
			if other := r["referenced_table_schema"]; other != schema {
				to = other + "." + to
			}
			t.Links = append(t.Links, catalog.Link{Name: r["constraint_name"], Table: to})
		}
		l := &t.Links[len(t.Links)-1]
		l.Columns = append(l.Columns, r["column_name"])
		l.Reference = append(l.Reference, r["referenced_column_name"])
	}
	return nil
}

// number parses a count; other text is 0.
func number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		f, _ := strconv.ParseFloat(s, 64)
		return int64(f)
	}
	return n
}
