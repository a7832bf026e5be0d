package slowlog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/logs/filter"
)

// TestBy: rows by table, user, host and database have the counts of their entries.
func TestBy(t *testing.T) {
	other := func(e string) string {
		return strings.ReplaceAll(strings.ReplaceAll(e, "isu[isu] @ localhost []", "bob[bob] @  [10.0.0.9]"), "Schema: lab", "Schema: shop")
	}
	log := entry(1, 10, "select a from T1, t2 where id=1") + entry(1, 20, "select a from T1 where id=2") + other(entry(2, 40, "update t2 set a=1")) + entry(1, 1, "commit")
	for by, want := range map[string]string{
		"table": "t2 2 50µs, T1 2 30µs, (none) 1 1µs",
		"user":  "bob 1 40µs, isu 3 31µs",
		"host":  "10.0.0.9 1 40µs, localhost 3 31µs",
		"db":    "shop 1 40µs, lab 3 31µs",
	} {
		b, err := ParseBy(by)
		if err != nil {
			t.Fatal(err)
		}
		p, err := readText(t, log, Options{By: b})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range p.Rows {
			got = append(got, fmt.Sprintf("%s %d %v", r.Key, r.Count, r.Total))
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%s: %s, want %s", by, s, want)
		}
		if hasNote(p.Notes, "each of its tables") != (by == "table") {
			t.Errorf("%s: notes %q", by, p.Notes)
		}
	}
	if _, err := ParseBy("colour"); err == nil || !strings.Contains(err.Error(), "statement, table, user, host, db") {
		t.Errorf("%v", err)
	}
}

// TestManyGroups: more users than have rows share one row.
func TestManyGroups(t *testing.T) {
	var b strings.Builder
	for i := range maxGroups + 10 {
		b.WriteString(strings.Replace(entry(1, 10, "select 1"), "isu[isu]", fmt.Sprintf("u%d[u%d]", i, i), 1))
	}
	p, err := readText(t, b.String(), Options{By: ByUser})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Rows) != maxGroups+1 || row(t, p, otherGroups).Count != 10 {
		t.Errorf("%d rows", len(p.Rows))
	}
}

// TestWhere: the filter has the language of package filter.
func TestWhere(t *testing.T) {
	log := entry(1, 10, "select a from t1 where id=1") + entry(1, 20000, "SELECT a from t1 where id=2") + entry(2, 40, "update t2 set a=1")
	for text, want := range map[string]int64{
		"time > 15us and statement ~ ^select": 1, "time>15us": 2, "time > 0.01": 1, "user=isu": 3, "user=bob|isu,time<30us": 1, "db != lab": 0, "thread = 2 or time>=20ms": 2,
		"not (statement ~ ^select)": 1, "rows_examined=3 and rows-sent=1": 3, "bytes_sent>=1k": 0, "error=no": 3, "full_scan = yes": 0, "at>=2026-11-21T05:24:10Z": 3, "": 3,
	} {
		w, err := ParseWhere(text, time.UTC)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		p, err := readText(t, log, Options{Where: w})
		got := int64(0)
		if err == nil {
			got = p.Intake.Lines - p.Intake.Left
		}
		if got != want {
			t.Errorf("%q: %d entries, want %d (%v)", text, got, want, err)
		}
	}
	for text, want := range map[string]string{"speed > 3": `"speed" is not one of`, "time > fast": "is not a time such as", "rows_sent = x": "whole number", "statement ~ [": "missing closing", "error > yes": "yes or no"} {
		if _, err := ParseWhere(text, time.UTC); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestTimeRange: --since and --until are absolute, of a day, or relative to the end
// of the log, in every format.
func TestTimeRange(t *testing.T) {
	var slow, pg strings.Builder
	for i := range 600 { // ten minutes from 05:24:10 UTC
		slow.WriteString(strings.Replace(entry(1, 10, fmt.Sprintf("select a from t where id=%d", i)), "1795238650", fmt.Sprint(1795238650+i), 1))
		at := time.Unix(int64(1795238650+i), 0).UTC()
		fmt.Fprintf(&pg, "%s UTC [7] LOG:  duration: 1.0 ms  statement: select a from t where id=%d\n", at.Format("2006-01-02 15:04:05.000"), i)
	}
	for since, want := range map[string]int64{"05:30": 250, "05:30:10": 240, "2m": 120, "90s ago": 90, "2026-11-21 05:34:00": 10, "1h": 600} {
		w, err := filter.ParseWhen(since, time.UTC, nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, log := range map[string]string{"slow": slow.String(), "postgres": pg.String()} {
			p, err := readText(t, log, Options{Since: w})
			if err != nil {
				t.Errorf("%s since %s: %v", name, since, err)
				continue
			}
			if got := p.Intake.Lines - p.Intake.Left; got < want-1 || got > want+1 {
				t.Errorf("%s since %s: %d entries, want %d", name, since, got, want)
			}
		}
	}
	until, _ := filter.ParseWhen("05:24:20", time.UTC, nil)
	if p, err := readText(t, slow.String(), Options{Until: until}); err != nil || p.Intake.Lines-p.Intake.Left != 10 {
		t.Errorf("%v %+v", err, p)
	}
	late, _ := filter.ParseWhen("1m", time.UTC, nil)
	if _, err := readText(t, slow.String(), Options{Since: late, Until: until}); err == nil || !strings.Contains(err.Error(), "the time range is empty") {
		t.Errorf("%v", err)
	}
}
