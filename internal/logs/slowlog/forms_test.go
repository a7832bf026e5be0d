package slowlog

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// repeated joins n texts.
func repeated(n int, text func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(text(i))
	}
	return b.String()
}

// mysqlEntry is an entry of 1 ms in the form of MySQL 8.
func mysqlEntry(i int, sql string) string {
	return fmt.Sprintf("# Time: 2026-11-19T04:04:%02d.000000Z\n# User@Host: app[app] @ web [10.0.0.2]  Id: 7\n# Query_time: 0.001000  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 1\nSET timestamp=1795061045;\n%s;\n", i, sql)
}

// TestForms: forms of logs that differ from those of the servers' documentation.
func TestForms(t *testing.T) {
	query := func(i int) string { return fmt.Sprintf("select * from t where id = %d", i) }
	pg := func(i int) string { return fmt.Sprintf("2026-11-19 04:04:05.%03d UTC [77] app@shop ", i) }
	const one = "select * from t where id = ?"
	type rows map[string]time.Duration
	for name, c := range map[string]struct {
		log  string
		rows rows
		n    int64
		note string
	}{
		"Percona: temporary tables without #": {log: repeated(40, func(i int) string {
			return strings.Replace(mysqlEntry(i, query(i)), "\nSET", "\n  Tmp_tables: 1  Tmp_disk_tables: 2  Tmp_table_sizes: 3\nSET", 1)
		}), rows: rows{one: 40 * time.Millisecond}, n: 40},
		"a clock that was set back": {log: repeated(39, func(i int) string { return mysqlEntry(i, query(i)) }) +
			strings.Replace(mysqlEntry(39, query(39)), "0.001000", "18446744073709.550781", 1),
			rows: rows{one: 39 * time.Millisecond}, n: 40, note: "1 statements have a time of more than ten years"},
		"TiDB": {log: repeated(40, func(i int) string {
			return fmt.Sprintf("# Time: 2026-11-19T04:04:%02d.000000+00:00\n# Txn_start_ts: 44911\n# User@Host: root[root] @ 10.0.0.2 [10.0.0.2]\n# Conn_ID: 7\n# Query_time: 0.001\n# Parse_time: 0.00001\n"+
				"# Cop_time: 0.0007 Request_count: 1 Total_keys: 1 Process_keys: 1\n# DB: shop\n# Is_internal: false\n# Digest: 42a1\n# Stats: t:pseudo\n# Succ: true\n# Plan: tidb_decode_plan('ZJAwCT')\nuse shop;\n%s;\n", i, query(i))
		}), rows: rows{one: 40 * time.Millisecond}, n: 40},
		"PostgreSQL: a prefix without time and process id": {log: repeated(40, func(i int) string {
			return "db=shop,user=app,app=web,client=10.0.0.2 LOG:  duration: 1.000 ms  statement: " + query(i) + "\n"
		}), rows: rows{one: 40 * time.Millisecond}, n: 40},
		"PostgreSQL: blanks stripped at line ends": {log: repeated(40, func(i int) string {
			return pg(i) + "LOG:  duration: 1.000 ms  statement:\n\tselect *\n\tfrom t where id = 7\n" + pg(i) + "LOG:  automatic vacuum of table \"shop.public.t\": index scans: 0\n\tpages: 0 removed\n"
		}), rows: rows{one: 40 * time.Millisecond}, n: 40},
		"PostgreSQL: a bind whose execution was not logged": {log: repeated(20, func(i int) string {
			return pg(i) + "LOG:  duration: 500.000 ms  bind <unnamed>: select * from t where id = $1\n" + pg(i) + "LOG:  duration: 120.000 ms  statement: select * from a where id = 1\n"
		}), rows: rows{one: 10 * time.Second, "select * from a where id = ?": 2400 * time.Millisecond}, n: 20},
		"PostgreSQL: a bind and its execution": {log: repeated(20, func(i int) string {
			return pg(i) + "LOG:  duration: 500.000 ms  bind s1: select * from t where id = $1\n" + pg(i) + "LOG:  duration: 20.000 ms  execute s1: select * from t where id = $1\n"
		}), rows: rows{one: 10*time.Second + 400*time.Millisecond}, n: 20},
		"auto_explain alone": {log: repeated(20, func(i int) string {
			return pg(i) + "LOG:  duration: 50.000 ms  plan:\n\tQuery Text: select *\n\t  from t where id = 7\n\tSeq Scan on t  (cost=0.00..35.50 rows=10 width=4)\n\t  Filter: (id = 7)\n"
		}), rows: rows{one: time.Second}, n: 20},
		"auto_explain in JSON": {log: repeated(20, func(i int) string {
			return pg(i) + "LOG:  duration: 50.000 ms  plan:\n\t{\n\t  \"Query Text\": \"select * from t where id = 7\",\n\t  \"Plan\": {\"Node Type\": \"Seq Scan\"}\n\t}\n"
		}), rows: rows{one: time.Second}, n: 20},
		"auto_explain beside durations": {log: repeated(20, func(i int) string {
			return pg(i) + "LOG:  duration: 50.000 ms  plan:\n\tQuery Text: select * from t where id = 7\n\tSeq Scan on t  (cost=0.00..35.50 rows=10 width=4)\n" + pg(i) + "LOG:  duration: 50.100 ms  statement: select * from t where id = 7\n"
		}), rows: rows{one: 20 * 50100 * time.Microsecond}, n: 20},
		"auto_explain of nested statements": {log: repeated(20, func(i int) string {
			plan := "LOG:  duration: 50.000 ms  plan:\n\tQuery Text: select * from %s where id = 7\n\tSeq Scan on t  (cost=0.00..35.50 rows=10 width=4)\n"
			return pg(i) + fmt.Sprintf(plan, "t") + pg(i) + fmt.Sprintf(plan, "u")
		}), rows: rows{one: time.Second, "select * from u where id = ?": time.Second}, n: 20},
		"an export with a time before each line": {log: repeated(40, func(i int) string {
			return "2026-11-19T04:04:05.000Z " + strings.ReplaceAll(strings.TrimSuffix(mysqlEntry(i, query(i)), "\n"), "\n", "\n2026-11-19T04:04:05.000Z ") + "\n"
		}), rows: rows{one: 40 * time.Millisecond}, n: 40, note: "removed a time before each line"},
		"an export with a time before each event": {log: repeated(40, func(i int) string { return "2026-11-19T04:04:05.000Z " + mysqlEntry(i, query(i)) }),
			rows: rows{one: 40 * time.Millisecond}, n: 40, note: "removed a time before each event"},
		"an export of MariaDB, whose entries seldom have a time": {log: repeated(40, func(i int) string {
			_, entry, _ := strings.Cut(mysqlEntry(i, query(i)), "\n")
			return "2026-11-19T04:04:05.000Z " + entry
		}), rows: rows{one: 40 * time.Millisecond}, n: 40, note: "removed a time before each event"},
		"an export of a general log": {log: repeated(40, func(i int) string {
			return fmt.Sprintf("2026-11-19T04:04:05.000Z 2026-11-19T04:04:%02d.123456Z\t   42 Query\tselect *\nfrom t\nwhere id = %d\n", i, i)
		}), rows: rows{one: 0}, n: 40, note: "removed a time before each event"},
		"an export of PostgreSQL": {log: repeated(40, func(i int) string {
			return "2026-11-19T04:04:05.000Z " + fmt.Sprintf("2026-11-19 04:04:%02d UTC:10.0.0.2(4711):app@shop:[77]:LOG:  duration: 1.000 ms  statement: select *\n\tfrom t\n\twhere id = %d\n", i, i)
		}), rows: rows{one: 40 * time.Millisecond}, n: 40},
	} {
		p := mustRead(t, c.log)
		if len(p.Rows) != len(c.rows) || p.Intake.Bad != 0 {
			t.Errorf("%s: %d rows, %d bad %v", name, len(p.Rows), p.Intake.Bad, p.Intake.BadLines)
		}
		for key, total := range c.rows {
			if r := row(t, p, key); r.Count != c.n || r.Total != total {
				t.Errorf("%s: %s: %d times, %v in all", name, key, r.Count, r.Total)
			}
		}
		if c.note != "" && !hasNote(p.Notes, c.note) {
			t.Errorf("%s: notes %q", name, p.Notes)
		}
	}
}

// TestFoldedLists: parts that repeat with the number of values, and the same again for
// the fingerprint of a fingerprint.
func TestFoldedLists(t *testing.T) {
	for sql, want := range map[string]string{
		"select a from t where d in (cast('1' as date), CAST('2' AS DATE),cast('3' as date))": "select a from t where d in (cast(? as date))",
		"select a from t where d in (f(1, 2), f(3,4)) and e in (1,2)":                         "select a from t where d in (f(?, ?)) and e in (?+)",
		"select a from t where d in (f(1), g(2))":                                             "select a from t where d in (f(?), g(?))",
		"select a from t where d in (select b from u)":                                        "select a from t where d in (select b from u)",
		"select 1 union all select 2":                                                         "select ? union all select ?",
		"select 1 union all select 2 union all select 3 union all select 4":                   "select ? union all select ?",
		"select 1 union select 2 union select 3 order by 1 limit 2":                           "select ? union select ? order by ? limit ?",
		"select 1 union select 2 union all select 3":                                          "select ? union select ? union all select ?",
		"select a union select b union select c":                                              "select a union select b union select c",
		"select * from (select 1 union all select 2 union all select 3) x join (select 4) y":  "select * from (select ? union all select ?) x join (select ?) y",
		"update t set a = case id when 1 then 2 when 3 then 4 when 5 then 6 else 7 end":       "update t set a = case id when ? then ? else ? end",
		"select case when a > 1 then 2 when b > 1 then 2 end, case when a > 1 then 2 end":     "select case when a > ? then ? when b > ? then ? end, case when a > ? then ? end",
	} {
		var f Fingerprinter
		got := string(f.Fingerprint([]byte(sql)))
		if got != want {
			t.Errorf("%s\ngot  %s\nwant %s", sql, got, want)
		}
		if again := string(f.Fingerprint([]byte(got))); again != got {
			t.Errorf("%s\nagain %s", got, again)
		}
	}
}
