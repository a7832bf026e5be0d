package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

func TestSQLRoutes(t *testing.T) {
	var p iikanji.Profile
	for _, key := range []string{"GET /a/:any", "GET /a/:id/x.y", "GET /a/me", "POST /files/*path", "(other)", "GET /v/:id:publish", "GET /u/{userId}", "GET /w/:userId"} {
		p.Rows = append(p.Rows, iikanji.Row{Key: key})
	}
	routes, left := sqlRoutes(&p)
	var got []string
	for _, r := range routes {
		got = append(got, r.method+" "+r.pattern)
	}
	want := `GET ^/a/me$ GET ^/a/[^/]+/x\.y$ GET ^/v/[^/]+:publish$ GET ^/u/[^/]+$ GET ^/w/[^/]+$ GET ^/a/[^/]+$ POST ^/files/.*$`
	if strings.Join(got, " ") != want || left != 1 {
		t.Errorf("%q, %d left", got, left)
	}
	if s := sqlString(`^/it's\.$`); s != `'^/it\'s\\.$'` {
		t.Error(s)
	}
}

// withChDB makes the package chdb of Python available. It has 900 MB: only make soak
// installs it, into the user's cache folder; another tier takes it where it is installed.
func withChDB(t *testing.T) {
	t.Helper()
	there := func() bool { return exec.CommandContext(t.Context(), "python3", "-c", "import chdb").Run() == nil }
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(cache, "iikanji", "chdb")
	t.Setenv("PYTHONPATH", folder+":"+os.Getenv("PYTHONPATH"))
	if there() {
		return
	}
	tier.Long(t, "chDB is not installed, and has 900 MB")
	out, err := exec.CommandContext(t.Context(), "python3", "-m", "pip", "install", "--quiet", "--target", folder, "chdb").CombinedOutput()
	if err != nil || !there() {
		t.Fatalf("installing chDB: %v\n%s", err, out)
	}
}

// TestClickHouse runs the query on the log in chDB, the engine of ClickHouse as a package of
// Python, and compares all rows.
func TestClickHouse(t *testing.T) {
	tier.Slow(t)
	withChDB(t)
	t.Chdir(t.TempDir())
	r := rand.New(rand.NewPCG(5, 6))
	var log, table strings.Builder
	for range 20000 {
		path := []string{"/", "/items/%d", "/items/me", "/items/%d/photo.jpg", "/users/%d/orders/%d?page=%d"}[r.IntN(5)]
		for strings.Contains(path, "%d") {
			path = strings.Replace(path, "%d", fmt.Sprint(1+r.IntN(9000)), 1)
		}
		method, status, size, took := []string{"GET", "POST"}[r.IntN(2)], []int{200, 404, 503}[r.IntN(3)], r.IntN(9000), math.Exp(r.NormFloat64())/100
		fmt.Fprintf(&log, "10.0.0.1 - - [19/Nov/2026:04:04:05 +0000] \"%s %s HTTP/1.1\" %d %d \"-\" \"x\" %.6f\n", method, path, status, size, took)
		fmt.Fprintf(&table, "%s\t%s\t%d\t%d\t%.6f\n", method, path, status, size, took)
	}
	for name, text := range map[string]string{"access.log": log.String(), "table.tsv": table.String()} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	query, errs, status := invoke(t, "access", "--sql", "clickhouse", "--save", "p.json", "access.log")
	if status != 0 {
		t.Fatal(errs)
	}
	query = strings.Replace(query, "FROM access_log", "FROM file('table.tsv', TSV, 'method String, uri String, status UInt16, bytes UInt64, time Float64')", 1)
	run := exec.Command("python3", "-c", "import chdb,sys; print(chdb.query(sys.stdin.read(), 'JSONEachRow'))")
	run.Stdin = strings.NewReader(query)
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, out, query)
	}
	p, err := loadProfile("p.json")
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		Count, Bytes                      json.Number
		Total, Share, Mean, P50, P99, Max float64
		Errors                            json.Number `json:"5xx"`
		Route                             string
	}
	rows := map[string]row{}
	for line := range strings.Lines(strings.TrimSpace(string(out))) {
		var x row
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		rows[x.Route] = x
	}
	if len(rows) != len(p.Rows) || len(rows) < 8 {
		t.Errorf("%d rows, want %d: %s", len(rows), len(p.Rows), out)
	}
	for _, want := range p.Rows {
		x := rows[want.Key]
		near := func(a, b, by float64) bool { return math.Abs(a-b) <= by*b }
		if x.Count.String() != fmt.Sprint(want.Count) || x.Errors.String() != fmt.Sprint(want.Errors) || x.Bytes.String() != fmt.Sprint(int64(want.Web.Bytes)) ||
			!near(x.Total, want.Total.Seconds(), 1e-9) || !near(x.Share, want.Share, 1e-9) || !near(x.Mean, want.Mean.Seconds(), 1e-6) ||
			!near(x.Max, want.Max.Seconds(), 1e-9) || !near(x.P50, want.P50.Seconds(), 0.02) || !near(x.P99, want.P99.Seconds(), 0.03) {
			t.Errorf("%s: %+v, want %+v", want.Key, x, want)
		}
	}
}
