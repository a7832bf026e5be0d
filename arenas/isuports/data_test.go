package isuports

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestContestSize compares the contest's data with the table of the rules. Nothing
// is written: the rows of all tenants are drawn once.
func TestContestSize(t *testing.T) {
	tier.Slow(t)
	began := time.Now()
	ids := newIDs()
	var players, competitions, visits, scores, finished, disqualified int
	var truth Dataset
	names := map[string]bool{}
	for id := range int64(initialTenants) {
		tenant := contestSize.drawTenant(id+1, ids)
		truth.add(tenant)
		names[tenant.name] = true
		players += len(tenant.players)
		competitions += len(tenant.competitions)
		for _, p := range tenant.players {
			if p.disqualified {
				disqualified++
			}
		}
		v, s := checkTenant(t, tenant)
		visits, scores = visits+v, scores+s
		for _, c := range tenant.competitions {
			if c.finished != 0 {
				finished++
			}
		}
		if id == 0 && (len(tenant.players) != 5001 || len(tenant.competitions) != 20 || tenant.name != "isucon" || float64(s) < 1.4e6) {
			t.Errorf("tenant 1 is %s with %d players, %d competitions and %d scores", tenant.name, len(tenant.players), len(tenant.competitions), s)
		}
	}
	t.Logf("%d players, %d competitions, %d visits and %d scores, drawn in %v", players, competitions, visits, scores, time.Since(began).Round(time.Millisecond))
	for what, n := range map[string]struct{ got, want, off float64 }{
		"tenants":      {float64(len(names)), 100, 0},
		"players":      {float64(players), 15800, 0.05},
		"competitions": {float64(competitions), 1100, 0.1},
		"visits":       {float64(visits), 3.2e6, 0.1},
		"scores":       {float64(scores), 3.7e6, 0.1},
		"finished":     {float64(finished) / float64(competitions), 0.5, 0.1},
		"disqualified": {float64(disqualified) / float64(players), 0.1, 0.1},
	} {
		if n.got < n.want*(1-n.off) || n.got > n.want*(1+n.off) {
			t.Errorf("%s: %g, want %g", what, n.got, n.want)
		}
	}
	if err := truth.check(); err != nil {
		t.Error(err)
	}
}

// checkTenant checks the times and the billing of a tenant, and returns the numbers
// of its visits and scores.
func checkTenant(t *testing.T, tenant *tenantData) (visits, scores int) {
	t.Helper()
	if tenant.created < dataBegin || tenant.created > dataEnd {
		t.Errorf("tenant %s came at %d", tenant.name, tenant.created)
	}
	for _, c := range tenant.competitions {
		end := c.finished
		if end == 0 {
			end = dataEnd
		}
		yen := map[int]int64{}
		for _, v := range c.visits {
			if v.at < c.created || v.at > end || v.at < tenant.players[v.player].created {
				t.Fatalf("tenant %s: a visit at %d of a competition of %d to %d", tenant.name, v.at, c.created, end)
			}
			yen[v.player] = visitorYen
		}
		last := c.created
		for _, s := range c.scores {
			if s.at < last || s.at > end || s.score < 0 || s.score > 1e6 {
				t.Fatalf("tenant %s: a score of %d at %d behind one at %d", tenant.name, s.score, s.at, last)
			}
			last = s.at
			yen[s.player] = playerYen
		}
		sum := int64(0)
		for _, y := range yen {
			sum += y
		}
		if c.finished == 0 {
			sum = 0
		}
		if c.billing != sum {
			t.Errorf("competition %s is billed %d yen, want %d", c.id, c.billing, sum)
		}
		visits, scores = visits+len(c.visits), scores+len(c.scores)
	}
	return visits, scores
}

// tinySize is that of TestGenerateTenants: every kind of row, in a few of each.
var tinySize = dataSize{Players: bounds{1, 3}, HugePlayers: 12, Competitions: bounds{1, 3}, Visits: bounds{2, 6}, Scores: bounds{2, 6}}

// generated writes data of a size once for a test.
func generated(t *testing.T, s dataSize) (webapp, data string) {
	t.Helper()
	dir := t.TempDir()
	webapp, data = filepath.Join(dir, "webapp"), filepath.Join(dir, "data")
	if err := s.generate(t.Context(), webapp, data); err != nil {
		t.Fatal(err)
	}
	return webapp, data
}

// sumsOf returns the sums of all files of a folder.
func sumsOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	sums := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := os.ReadFile(path)
		sums[strings.TrimPrefix(path, dir)] = fmt.Sprintf("%x", sha256.Sum256(body))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sums
}

// TestInitialData checks the data that the tests of the app have. It runs without the race
// detector: SQLite as Go code is several times slower with it.
func TestInitialData(t *testing.T) {
	tier.Slow(t)
	testGenerate(t, smallSize)
}

// TestGenerateTenants checks the same of few rows, and runs with the race detector: two
// goroutines write the files.
func TestGenerateTenants(t *testing.T) { testGenerate(t, tinySize) }

// testGenerate checks that the files are complete, are the same each time, and agree with
// each other: no row is left out.
func testGenerate(t *testing.T, s dataSize) {
	webapp, data := generated(t, s)
	again, dataAgain := generated(t, s)
	sums := sumsOf(t, webapp)
	if len(sums) != initialTenants+1 || !reflect.DeepEqual(sums, sumsOf(t, again)) || !reflect.DeepEqual(sumsOf(t, data), sumsOf(t, dataAgain)) {
		t.Errorf("%d files, or other ones the second time", len(sums))
	}
	known, err := readDataset(data)
	if err != nil {
		t.Fatal(err)
	}
	only := t.TempDir()
	if err := s.generate(t.Context(), "", only); err != nil || !reflect.DeepEqual(sumsOf(t, data), sumsOf(t, only)) {
		t.Errorf("the benchmarker's copy alone differs (%v)", err)
	}
	dump, err := os.ReadFile(filepath.Join(webapp, adminData))
	if err != nil {
		t.Fatal(err)
	}
	ids := newIDs()
	visits := 0
	seen := map[string]bool{}
	for id := range int64(initialTenants) {
		tenant := s.drawTenant(id+1, ids)
		if got := known.Tenants[id]; got.Name != tenant.name || len(got.Competitions) != len(tenant.competitions) {
			t.Errorf("tenant %d is %+v in the copy", id+1, got)
		}
		for _, c := range tenant.competitions {
			visits += len(c.visits)
		}
		if id%9 == 0 {
			checkFile(t, filepath.Join(webapp, pristineDir, strconv.FormatInt(id+1, 10)+".db"), tenant, seen)
		}
	}
	if got := len(regexp.MustCompile(`(?m)^\('`).FindAll(dump, -1)); got != visits {
		t.Errorf("the dump has %d visits, want %d", got, visits)
	}
	if got := len(regexp.MustCompile(`(?m)^\(\d`).FindAll(dump, -1)); got != initialTenants || !bytes.HasSuffix(dump, []byte(");\n")) {
		t.Errorf("the dump has %d tenants, or no end", got)
	}
}

// checkFile compares a database with what was drawn. seen has the ids of all.
func checkFile(t *testing.T, path string, tenant *tenantData, seen map[string]bool) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	want := map[string]int{"player": len(tenant.players), "competition": len(tenant.competitions)}
	for _, c := range tenant.competitions {
		want["player_score"] += len(c.scores)
	}
	for table, rows := range want {
		ids, err := db.QueryContext(t.Context(), "SELECT id FROM "+table+" WHERE tenant_id = ?", tenant.id)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for ; ids.Next(); n++ {
			var id string
			if err := ids.Scan(&id); err != nil {
				t.Fatal(err)
			}
			if seen[id] || id == "0000000000" {
				t.Errorf("%s has the id %s of another row", table, id)
			}
			seen[id] = true
		}
		if err := ids.Err(); err != nil || n != rows {
			t.Errorf("%s has %d rows of %s, want %d (%v)", path, n, table, rows, err)
		}
	}
	var badOrder int
	err = db.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM (SELECT row_num, ROW_NUMBER() OVER (PARTITION BY competition_id ORDER BY created_at, row_num) AS n
		FROM player_score) WHERE row_num <> n`).Scan(&badOrder)
	if err != nil || badOrder != 0 {
		t.Errorf("%s: %d scores are not numbered in the order of their times (%v)", path, badOrder, err)
	}
}

// TestGenerateFails checks that errors end the generator and leave no version.
func TestGenerateFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, pristineDir), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	if err := smallSize.generate(t.Context(), dir, data); err == nil {
		t.Error("files were written below a file")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, webapp := range []string{"", filepath.Join(dir, "webapp")} {
		if err := smallSize.generate(ctx, webapp, data); !errors.Is(err, context.Canceled) {
			t.Errorf("canceled: %v", err)
		}
	}
	if _, err := os.Stat(filepath.Join(data, versionFile)); err == nil {
		t.Error("data that is not complete has a version")
	}
}

// TestReadDataset checks that a copy that the benchmarker cannot use is refused.
func TestReadDataset(t *testing.T) {
	data := t.TempDir()
	if err := smallSize.generate(t.Context(), "", data); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ file, old, new string }{
		"no JSON":          {samplesFile, "[", "{"},
		"unknown tenant":   {samplesFile, `"isucon"`, `"nobody"`},
		"missing tenant":   {tenantsFile, `"tenant_id": 7,`, `"tenant_id": 8,`},
		"sum of a billing": {tenantsFile, `"billing": `, `"billing": 1`},
	} {
		path := filepath.Join(data, c.file)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		broken := strings.Replace(string(text), c.old, c.new, 1)
		if broken == string(text) {
			t.Fatalf("%s: nothing to break in %s", name, c.file)
		}
		if err := os.WriteFile(path, []byte(broken), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := readDataset(data); err == nil {
			t.Errorf("%s: the copy is read", name)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := readDataset(data); err != nil {
		t.Error(err)
	}
	if _, err := readDataset(t.TempDir()); err == nil {
		t.Error("an empty folder is read")
	}
}

// FuzzParseDataset checks that a copy that is read is one that the benchmarker can
// use, and that writing it gives the same copy.
func FuzzParseDataset(f *testing.F) {
	var known Dataset
	if err := smallSize.draw(f.Context(), &known, nil, nil); err != nil {
		f.Fatal(err)
	}
	known.Samples = known.Samples[:3]
	tenants, err := json.Marshal(known.Tenants)
	if err != nil {
		f.Fatal(err)
	}
	samples, err := json.Marshal(known.Samples)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(tenants, samples)
	f.Add([]byte("[]"), []byte("null"))
	f.Fuzz(func(t *testing.T, tenants, samples []byte) {
		d, err := parseDataset(tenants, samples)
		if err != nil {
			return
		}
		if err := d.check(); err != nil {
			t.Fatalf("a copy is read that cannot be used: %v", err)
		}
		tenants, err = json.Marshal(d.Tenants)
		if err == nil {
			samples, err = json.Marshal(d.Samples)
		}
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseDataset(tenants, samples)
		if err != nil || !reflect.DeepEqual(d, again) {
			t.Fatalf("the copy reads differently after it was written (%v)", err)
		}
	})
}

func TestVersions(t *testing.T) {
	if contestSize.version() == smallSize.version() || generatedVersion() != contestSize.version() {
		t.Error("two sizes have one version")
	}
}

// TestWords checks that names need no quotes in SQL, CSV and HTML.
func TestWords(t *testing.T) {
	tenant := contestSize.drawTenant(17, newIDs())
	for _, text := range []string{tenant.name, tenant.displayName, tenant.players[0].name, tenant.competitions[0].title} {
		if text == "" || strings.ContainsAny(text, `'"\<>&,`) {
			t.Errorf("a name is %q", text)
		}
	}
	if !regexp.MustCompile(`^[a-z][a-z0-9-]{0,61}[a-z0-9]$`).MatchString(tenant.name) {
		t.Errorf("a tenant is called %q", tenant.name)
	}
}

func TestKeys(t *testing.T) {
	key, err := signingKey()
	if err != nil || key.N.BitLen() < 2048 {
		t.Fatalf("the key: %v", err)
	}
	for name, text := range map[string][]byte{"no PEM": nil, "the public key": webapp.MustRead("public.pem")} {
		if _, err := parseKey(text); err == nil {
			t.Errorf("%s is taken for a private key", name)
		}
	}
}
