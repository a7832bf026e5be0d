package accesslog

import (
	"bufio"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/bench/access/gen"
)

// peerRow is a row of kataribe or alp for one route; both tools were given the
// routes.
type peerRow struct {
	count, bytes                  int64
	class                         [6]int64
	sum, mean, stddev, min, max   float64
	p50, p90, p95, p99            float64
	minBytes, meanBytes, maxBytes float64
}

// exact computes the true figures with a regular expression over every line.
func exact(t *testing.T, log string) map[string][]float64 {
	t.Helper()
	line := regexp.MustCompile(`"(\S+) ([^ ?]+)\S* HTTP/1\.1" .* ([0-9.]+)$`)
	times := map[string][]float64{}
	var paths []*regexp.Regexp
	for _, p := range gen.Patterns() {
		paths = append(paths, regexp.MustCompile(p.Regexp))
	}
	for l := range strings.Lines(log) {
		m := line.FindStringSubmatch(strings.TrimSuffix(l, "\n"))
		if m == nil {
			t.Fatal(l)
		}
		v, _ := strconv.ParseFloat(m[3], 64)
		for i, p := range gen.Patterns() {
			if p.Method == m[1] && paths[i].MatchString(m[2]) {
				key := p.Method + " " + p.Route
				times[key] = append(times[key], v)
			}
		}
	}
	for _, v := range times {
		slices.Sort(v)
	}
	return times
}

func peerLines(t *testing.T, file string) (all []string) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "peers", file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		all = append(all, s.Text())
	}
	return all
}

func num(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(err)
	}
	return v
}

// alpRows reads alp's TSV; its routes are the expressions given to alp.
func alpRows(t *testing.T, file string) map[string]peerRow {
	t.Helper()
	rows := map[string]peerRow{}
	for _, l := range peerLines(t, file)[2:] {
		c := strings.Split(l, "\t")
		key := ""
		for _, p := range gen.Patterns() {
			if p.Method == c[6] && p.Regexp == c[7] {
				key = p.Method + " " + p.Route
			}
		}
		r := peerRow{count: int64(num(c[0])), min: num(c[8]), max: num(c[9]), sum: num(c[10]), mean: num(c[11]),
			p50: num(c[12]), p90: num(c[13]), p95: num(c[14]), p99: num(c[15]), stddev: num(c[16]),
			minBytes: num(c[17]), maxBytes: num(c[18]), bytes: int64(num(c[19])), meanBytes: num(c[20])}
		for i := 1; i <= 5; i++ {
			r.class[i] = int64(num(c[i]))
		}
		rows[key] = r
	}
	return rows
}

func kataribeRows(t *testing.T) map[string]peerRow {
	t.Helper()
	rows := map[string]peerRow{}
	for _, l := range peerLines(t, "kataribe.txt")[3:] {
		c := strings.Fields(l)
		if len(c) < 19 {
			continue
		}
		r := peerRow{count: int64(num(c[0])), sum: num(c[1]), mean: num(c[2]), stddev: num(c[3]), min: num(c[4]),
			p50: num(c[5]), p90: num(c[6]), p95: num(c[7]), p99: num(c[8]), max: num(c[9]),
			bytes: int64(num(c[14])), minBytes: num(c[15]), meanBytes: num(c[16]), maxBytes: num(c[17])}
		for i := 2; i <= 5; i++ {
			r.class[i] = int64(num(c[8+i]))
		}
		rows[strings.Join(c[18:], " ")] = r
	}
	return rows
}

// TestPeersAgree: the learned routes are those that the peers were given, and
// the figures are equal: counts, sums, classes and bytes exactly, percentiles
// to a neighbouring rank (each tool has its own rule for ranks), ours within 1
// % of the nearest rank.
func TestPeersAgree(t *testing.T) {
	truth := exact(t, generated(t, gen.Options{Lines: 3000, Seed: 7, Format: gen.Combined}))
	for _, c := range []struct {
		name   string
		format gen.Format
		peer   map[string]peerRow
	}{
		{"kataribe", gen.Combined, kataribeRows(t)},
		{"alp regexp", gen.Combined, alpRows(t, "alp-regexp.tsv")},
		{"alp ltsv", gen.LTSV, alpRows(t, "alp-ltsv.tsv")},
		{"alp json", gen.JSON, alpRows(t, "alp-json.tsv")},
	} {
		p := read(t, Options{}, generated(t, gen.Options{Lines: 3000, Seed: 7, Format: c.format}))
		if len(p.Rows) != len(c.peer) || len(p.Rows) != len(truth) {
			t.Errorf("%s: %d routes, the peer has %d, the truth %d", c.name, len(p.Rows), len(c.peer), len(truth))
		}
		for _, r := range p.Rows {
			o, ok := c.peer[r.Key]
			if !ok {
				t.Errorf("%s has no %s", c.name, r.Key)
				continue
			}
			compare(t, c.name, r, o, truth[r.Key])
		}
	}
}

func compare(t *testing.T, peer string, r iikanji.Row, o peerRow, truth []float64) {
	t.Helper()
	class := r.Web.Status
	if r.Count != o.count || class != o.class || int64(r.Web.Bytes) != o.bytes || float64(r.Web.MaxBytes) != o.maxBytes {
		t.Errorf("%s: %s: count %d %v %d, the peer %d %v %d", peer, r.Key, r.Count, class, r.Web.Bytes, o.count, o.class, o.bytes)
	}
	near := func(what string, ours time.Duration, theirs, tolerance float64) {
		if math.Abs(ours.Seconds()-theirs) > tolerance {
			t.Errorf("%s: %s: %s %v, the peer %v", peer, r.Key, what, ours.Seconds(), theirs)
		}
	}
	near("total", r.Total, o.sum, 0.0006)
	near("mean", r.Mean, o.mean, 0.0006)
	near("stddev", r.Stddev, o.stddev, 0.0006)
	if !strings.HasPrefix(peer, "alp") || r.Min > 0 { // alp treats a minimum of 0 as not set
		near("min", r.Min, o.min, 1e-9)
	}
	near("max", r.Max, o.max, 1e-9)
	for _, q := range []struct {
		q      float64
		ours   time.Duration
		theirs float64
	}{{0.50, r.P50, o.p50}, {0.90, r.P90, o.p90}, {0.95, r.P95, o.p95}, {0.99, r.P99, o.p99}} {
		rank := int(math.Ceil(q.q * float64(len(truth))))
		want := truth[rank-1]
		near("quantile", q.ours, want, 0.01*want)
		lo, hi := truth[max(rank-2, 0)], truth[min(rank, len(truth)-1)]
		if q.theirs < lo-1e-9 || q.theirs > hi+1e-9 {
			t.Errorf("%s: %s: q%v %v is not between its neighbours %v and %v", peer, r.Key, q.q, q.theirs, lo, hi)
		}
	}
}
