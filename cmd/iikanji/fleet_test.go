package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
)

// fleetSize is the number of hosts among which a log is split.
const fleetSize = 7

// TestFleetOfAccess: profiles that seven hosts saved of their parts of a log merge to that
// of the whole log.
func TestFleetOfAccess(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	routes := []string{"/", "/items/%d", "/items/%d/photo", "/login", "/users/%d/orders/%d"}
	var records []string
	times := map[string][]time.Duration{}
	for i := range 14000 {
		k := r.IntN(len(routes))
		path := strings.ReplaceAll(routes[k], "%d", fmt.Sprint(1000+r.IntN(5000)))
		took := time.Duration(math.Exp(r.NormFloat64())*float64(k+1)*1e4) * time.Microsecond
		key := "GET " + strings.ReplaceAll(routes[k], "%d", ":id")
		times[key] = append(times[key], took)
		status := []int{200, 200, 200, 404, 500}[r.IntN(5)]
		at := time.Date(2026, 11, 19, 4, 0, 0, 0, time.UTC).Add(time.Duration(i) * 50 * time.Millisecond)
		records = append(records, fmt.Sprintf("10.0.0.%d - - [%s] \"GET %s HTTP/1.1\" %d %d \"-\" \"x\" %.6f\n", i%9, at.Format("02/Jan/2006:15:04:05 -0700"), path, status, r.IntN(9000), took.Seconds()))
	}
	checkFleet(t, "access", records, times, func(a, b *iikanji.Row) error {
		if a.Errors != b.Errors || a.Web.Bytes != b.Web.Bytes || a.Web.MaxBytes != b.Web.MaxBytes || a.Web.Status != b.Web.Status {
			return fmt.Errorf("%+v, whole %+v", a.Web, b.Web)
		}
		return nil
	})
}

// TestFleetOfSlow is the same for slow logs.
func TestFleetOfSlow(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	statements := []string{"SELECT * FROM a WHERE id = %d", "SELECT * FROM b WHERE x = '%d' LIMIT 10", "UPDATE c SET n = n + %d", "INSERT INTO d (v) VALUES (%d)"}
	keys := []string{"select * from a where id = ?", "select * from b where x = ? limit ?", "update c set n = n + ?", "insert into d(v) values (?+)"}
	var records []string
	times := map[string][]time.Duration{}
	for i := range 7000 {
		k := r.IntN(len(statements))
		took := time.Duration(math.Exp(r.NormFloat64())*float64(k+1)*1e4) * time.Microsecond
		times[keys[k]] = append(times[keys[k]], took)
		records = append(records, fmt.Sprintf("# Time: %s\n# User@Host: isu[isu] @ localhost []\n# Thread_id: %d  Schema: isu  QC_hit: No\n# Query_time: %.6f  Lock_time: 0.000%03d  Rows_sent: %d  Rows_examined: %d\n# Rows_affected: %d  Bytes_sent: 10\nSET timestamp=%d;\n%s;\n",
			time.Unix(1795255200+int64(i), 0).UTC().Format("060102 15:04:05"), i%5, took.Seconds(), r.IntN(1000), r.IntN(50), r.IntN(5000), r.IntN(4), 1795255200+i, fmt.Sprintf(statements[k], i)))
	}
	checkFleet(t, "slow", records, times, func(a, b *iikanji.Row) error {
		p, q := a.Query, b.Query
		if p.Lock != q.Lock || p.Sent != q.Sent || p.MaxSent != q.MaxSent || p.Examined != q.Examined || p.MaxExamined != q.MaxExamined || p.Affected != q.Affected || p.BytesSent != q.BytesSent || p.Decades != q.Decades {
			return fmt.Errorf("%+v, whole %+v", p, q)
		}
		return nil
	})
}

// checkFleet deals records out to the hosts, as a load balancer does, and compares what
// their saved profiles merge to with the profile of all records: counts and sums are equal,
// and quantiles are within 1 % of those of the records.
func checkFleet(t *testing.T, command string, records []string, times map[string][]time.Duration, same func(a, b *iikanji.Row) error) {
	t.Helper()
	t.Chdir(t.TempDir())
	run := func(args ...string) {
		t.Helper()
		if _, errs, status := invoke(t, args...); status != 0 {
			t.Fatalf("%q: %s", args, errs)
		}
	}
	parts := make([]strings.Builder, fleetSize)
	for i, record := range records {
		parts[(i+i/11)%fleetSize].WriteString(record)
	}
	merge := []string{"merge", "--save", "merged.json"}
	for i := range parts {
		log, saved := fmt.Sprintf("host%d.log", i), fmt.Sprintf("host%d.json", i)
		if err := os.WriteFile(log, []byte(parts[i].String()), 0o644); err != nil {
			t.Fatal(err)
		}
		run(command, "--save", saved, log)
		merge = append(merge, saved)
	}
	if err := os.WriteFile("whole.log", []byte(strings.Join(records, "")), 0o644); err != nil {
		t.Fatal(err)
	}
	run(command, "--save", "whole.json", "whole.log")
	run(merge...)
	merged, err := loadProfile("merged.json")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := loadProfile("whole.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(merged.Rows) != len(whole.Rows) || len(whole.Rows) < 4 || merged.Intake.Lines != whole.Intake.Lines || merged.Intake.Bytes != whole.Intake.Bytes {
		t.Fatalf("%d rows of %+v, whole %d of %+v", len(merged.Rows), merged.Intake, len(whole.Rows), whole.Intake)
	}
	rows := map[string]*iikanji.Row{}
	for i := range merged.Rows {
		rows[merged.Rows[i].Key] = &merged.Rows[i]
	}
	for i := range whole.Rows {
		b := &whole.Rows[i]
		a := rows[b.Key]
		if a == nil {
			t.Errorf("%s is missing", b.Key)
			continue
		}
		if a.Count != b.Count || a.Total != b.Total || a.Min != b.Min || a.Max != b.Max || a.Mean != b.Mean {
			t.Errorf("%s: %+v, whole %+v", b.Key, a, b)
		}
		all := times[b.Key]
		if len(all) != int(a.Count) {
			t.Fatalf("%s: %d, want %d", b.Key, a.Count, len(all))
		}
		slices.Sort(all)
		for q, got := range map[float64]time.Duration{0.5: a.P50, 0.9: a.P90, 0.99: a.P99} {
			exact := all[int(math.Ceil(q*float64(len(all))))-1]
			if d := math.Abs(float64(got - exact)); d > 0.01*float64(exact) {
				t.Errorf("%s: the quantile %v is %v, exact %v", b.Key, q, got, exact)
			}
		}
		if err := same(a, b); err != nil {
			t.Errorf("%s: %v", b.Key, err)
		}
	}
}
