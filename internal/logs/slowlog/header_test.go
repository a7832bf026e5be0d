package slowlog

import (
	"slices"
	"strings"
	"testing"
)

const mysqlBanner = "/usr/sbin/mysqld, Version: 8.0.36 (MySQL Community Server - GPL). started with:\nTcp port: 3306  Unix socket: /var/run/mysqld/mysqld.sock\nTime                 Id Command    Argument\n"

// TestBanners: several server headers in a row, as after a restart or FLUSH SLOW
// LOGS, lose no statement and are not reported as part of an entry.
func TestBanners(t *testing.T) {
	const timeLine = "# Time: 261121  5:24:10\n"
	for name, log := range map[string]string{
		"two at the head":       bannerText + bannerText + entry(1, 10, "select 1") + entry(1, 10, "select 2 from t"),
		"three at the head":     mysqlBanner + bannerText + mysqlBanner + entry(1, 10, "select 1") + entry(1, 10, "select 2 from t"),
		"two in the middle":     entry(1, 10, "select 1") + bannerText + bannerText + entry(1, 10, "select 2 from t"),
		"two with a time line":  entry(1, 10, "select 1") + bannerText + mysqlBanner + timeLine + entry(1, 10, "select 2 from t"),
		"a time line in them":   entry(1, 10, "select 1") + bannerText + timeLine + bannerText + timeLine + entry(1, 10, "select 2 from t"),
		"two at the end":        entry(1, 10, "select 1") + entry(1, 10, "select 2 from t") + bannerText + bannerText,
		"everywhere, in blocks": bannerText + bannerText + entry(1, 10, "select 1") + mysqlBanner + bannerText + entry(1, 10, "select 2 from t") + bannerText + bannerText,
	} {
		for _, size := range []int{0, 64, 300} {
			p, err := readText(t, log, Options{BlockSize: size})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if p.Intake.Lines != 2 || p.Intake.Bad != 0 || len(p.Rows) != 2 {
				t.Errorf("%s, blocks of %d: %d entries, %d bad, %d rows: %+v", name, size, p.Intake.Lines, p.Intake.Bad, len(p.Rows), p.Intake.BadLines)
			}
		}
	}
	// A statement that only resembles a header stays a statement.
	p := mustRead(t, entry(1, 10, "select 'x started with:\nnothing\nArgument\n'"))
	if p.Intake.Lines != 1 || p.Intake.Bad != 0 {
		t.Errorf("%+v", p.Intake)
	}
}

// TestHeaderOnly: a slow log with only its header has no entries, which is not an error.
func TestHeaderOnly(t *testing.T) {
	for log, format := range map[string]string{bannerText: "MariaDB slow log", mysqlBanner + mysqlBanner: "MySQL slow log", bannerText + "# Time: 261121  5:24:10\n": "MariaDB slow log"} {
		p, err := readText(t, log, Options{})
		if err != nil {
			t.Errorf("%q: %v", log, err)
			continue
		}
		if p.Intake.Lines != 0 || p.Intake.Bad != 0 || len(p.Rows) != 0 || p.Intake.Format != format || int(p.Intake.Bytes) != len(log) {
			t.Errorf("%q: %+v", log, p.Intake)
		}
		if !slices.Contains(p.Notes, noteNoEntries) {
			t.Errorf("%q: notes %q", log, p.Notes)
		}
	}
}

// TestPlanNote: a log without plans is noted once, with the setting of its server.
func TestPlanNote(t *testing.T) {
	about := func(log string) (notes []string) {
		for _, n := range mustRead(t, log).Notes {
			if strings.Contains(n, "plan") {
				notes = append(notes, n)
			}
		}
		return notes
	}
	plain := entry(1, 10, "select 1") + entry(1, 10, "select 2 from t")
	if got := about(plain); len(got) != 1 || !strings.Contains(got[0], "log_slow_verbosity='query_plan'") {
		t.Errorf("MariaDB without plans: %q", got)
	}
	planned := strings.Replace(plain, "SET timestamp", "# Full_scan: No  Full_join: No  Tmp_table: No  Tmp_table_on_disk: No\nSET timestamp", 1)
	if got := about(planned); len(got) != 0 {
		t.Errorf("MariaDB with plans: %q", got)
	}
	mysql := "# Time: 2026-11-21T05:24:10.1Z\n# User@Host: a[a] @ b []  Id: 6\n# Query_time: 0.1  Lock_time: 0 Rows_sent: 2  Rows_examined: 3\nSET timestamp=1795238650;\nselect 1;\n"
	if got := about(mysql); len(got) != 1 || !strings.Contains(got[0], "log_slow_extra=ON") {
		t.Errorf("MySQL without plans: %q", got)
	}
}

// TestQueryCache counts the executions that MariaDB's query cache answered.
func TestQueryCache(t *testing.T) {
	one := entry(1, 10, "select 1 from t")
	if !strings.Contains(one, "Thread_id: 1") || strings.Contains(one, "QC_hit: Yes") {
		t.Fatalf("not an entry as expected:\n%s", one)
	}
	hit := strings.Replace(one, "# Query_time", "# Schema: x  QC_hit: Yes\n# Query_time", 1)
	if p := mustRead(t, one+hit+hit); p.Rows[0].Count != 3 || p.Rows[0].Query.Cached != 2 {
		t.Errorf("%d executions, %d cached", p.Rows[0].Count, p.Rows[0].Query.Cached)
	}
}
