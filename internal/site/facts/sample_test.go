package facts_test

import (
	"slices"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/site/facts"
)

// TestHeld fills a table without updating its statistics. The server's estimate for
// an index is kept beside the count, and an executed plan has both the estimated
// and the measured rows.
func TestHeld(t *testing.T) {
	ctx := t.Context()
	db, err := server.Open(ctx, "stale")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, `CREATE TABLE device (id INT PRIMARY KEY);
		CREATE TABLE reading (id INT PRIMARY KEY, device INT NOT NULL, v INT NOT NULL, KEY d (device)) STATS_PERSISTENT=1 STATS_AUTO_RECALC=0;
		INSERT INTO device SELECT seq FROM seq_1_to_10; INSERT INTO reading SELECT seq, 1, seq FROM seq_1_to_20; ANALYZE TABLE device, reading;
		INSERT INTO reading SELECT seq, seq MOD 2000, seq FROM seq_21_to_10000; FLUSH TABLES`); err != nil {
		t.Fatal(err)
	}
	s, err := facts.Connect(ctx, db, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tables, err := s.Tables(ctx, "stale")
	if err != nil {
		t.Fatal(err)
	}
	reading := &tables[slices.IndexFunc(tables, func(t facts.SizedTable) bool { return t.Name == "reading" })]
	for range 2 { // a second count must not replace the server's estimate
		if err := s.Distinct(ctx, reading, []string{"device", "v"}); err != nil {
			t.Fatal(err)
		}
		z := reading.Size
		if held := z.Held["device"]; held < 1 || held > 10 || z.Distinct["device"] != 2000 || z.Rows != 10000 {
			t.Errorf("%+v", z)
		}
	}
	if _, held := reading.Size.Held["v"]; held {
		t.Errorf("of a column without an index the server holds nothing: %+v", reading.Size)
	}
	p, err := s.Analyze(ctx, "SELECT r.v FROM device d STRAIGHT_JOIN reading r FORCE INDEX (d) ON r.device = d.id")
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Steps) != 2 || !p.Ran || p.Steps[1].Table != "r" || p.Steps[1].Foreseen < 1000 || p.Steps[1].Rows > 30 || p.Steps[0].Foreseen != 10 || p.Steps[0].Rows != 10 {
		t.Errorf("%+v", p)
	}
	if p, err = s.Explain(ctx, "SELECT v FROM reading WHERE device = 1"); err != nil || len(p.Steps) != 1 || p.Steps[0].Foreseen != 0 {
		t.Errorf("what was not run was foreseen only: %+v, %v", p, err)
	}
}

// TestRanges: a count that takes too long is made again in ranges of the primary key. One
// row outside of them takes longer than a statement may.
func TestRanges(t *testing.T) {
	ctx := t.Context()
	db, err := server.Open(ctx, "wide")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, `CREATE TABLE page (id INT PRIMARY KEY, v INT NOT NULL); INSERT INTO page SELECT seq, seq MOD 100 FROM seq_1_to_20000;
		CREATE TABLE named (name VARCHAR(20) PRIMARY KEY, v INT NOT NULL); INSERT INTO named SELECT seq, seq FROM seq_1_to_20000; ANALYZE TABLE page, named`); err != nil {
		t.Fatal(err)
	}
	s, err := facts.Connect(ctx, db, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tables, err := s.Tables(ctx, "wide")
	if err != nil {
		t.Fatal(err)
	}
	named, page := &tables[0], &tables[1]
	shares, err := s.Selectivity(ctx, page, []string{"v < 25", "IF(id = 300, SLEEP(20), 0) = 0"})
	if share := shares["v < 25"]; err != nil || !page.Ranged() || share < 0.2 || share > 0.3 {
		t.Errorf("%v, %v, in ranges: %v", shares, err, page.Ranged())
	}
	rows := page.Size.Rows
	if err := s.Distinct(ctx, page, []string{"v"}); err != nil || page.Size.Rows != rows || page.Size.Distinct["v"] < 99 || page.Size.Distinct["v"] > 105 {
		t.Errorf("%+v, %v", page.Size, err)
	}
	// A key of text has no ranges: the error is that of the server, after one try.
	if shares, err := s.Selectivity(ctx, named, []string{"v < 25", "IF(name = '300', SLEEP(20), 0) = 0"}); err == nil || named.Ranged() {
		t.Errorf("%v, in ranges: %v", shares, named.Ranged())
	}
}
