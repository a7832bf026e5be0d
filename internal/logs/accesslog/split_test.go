package accesslog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/bench/access/gen"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// read counts logs in memory.
func read(t testing.TB, opt Options, logs ...string) *iikanji.Profile {
	t.Helper()
	p, err := readErr(t, opt, logs...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func readErr(t testing.TB, opt Options, logs ...string) (*iikanji.Profile, error) {
	t.Helper()
	var inputs []*lines.Input
	for i, l := range logs {
		name := "access.log"
		if i > 0 {
			name = fmt.Sprintf("access.log.%d", i)
		}
		inputs = append(inputs, lines.Bytes(name, []byte(l)))
	}
	return Read(t.Context(), inputs, opt)
}

func generated(t testing.TB, o gen.Options) string {
	t.Helper()
	var b strings.Builder
	if err := gen.Write(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func combinedLine(method, path string, status int, ms int) string {
	return fmt.Sprintf("10.0.0.1 - - [19/Nov/2026:04:04:05 +0000] \"%s %s HTTP/1.1\" %d 12 \"-\" \"curl/8\" %d.%03d\n",
		method, path, status, ms/1000, ms%1000)
}

// hostile makes logs with few or very many kinds of paths.
func hostile(r *rand.Rand, n, kinds int) string {
	var b strings.Builder
	word := func(of int) string {
		return "w" + strings.Repeat("xy", r.IntN(3)) + string(rune('a'+r.IntN(26))) + fmt.Sprint(r.IntN(of))
	}
	for range n {
		path := "/api"
		switch r.IntN(5) {
		case 0:
			path = "/home"
		case 1:
			path += "/" + word(kinds)
		case 2:
			path += "/" + word(kinds) + "/" + word(3)
		case 3:
			path = "/" + word(kinds) + ".png"
		case 4:
			path = "/t/" + word(2) + "/" + word(kinds/7+1) + "/" + fmt.Sprint(r.IntN(100))
		}
		b.WriteString(combinedLine([]string{"GET", "POST"}[r.IntN(2)], path, []int{200, 200, 404, 500}[r.IntN(4)], r.IntN(3000)))
	}
	return b.String()
}

// thicket makes paths with few names at each position but very many in total:
// nothing can be learned, and most routes overflow.
func thicket(r *rand.Rand, n, names int) string {
	var b strings.Builder
	for range n {
		path := ""
		for range 4 {
			path += "/" + string(rune('a'+r.IntN(names))) + "word"
		}
		if r.IntN(4) == 0 {
			path = "/login"
		}
		b.WriteString(combinedLine("GET", path, 200, r.IntN(100)))
	}
	return b.String()
}

// TestSplittingChangesNothing: any block size and number of workers gives the
// same profile to the byte, also if routes overflow, if the beginning of the
// log is unlike the rest, and if the log is read twice.
func TestSplittingChangesNothing(t *testing.T) {
	tier.Slow(t)
	r := rand.New(rand.NewPCG(11, 12))
	plain := func(n int) string {
		return strings.Repeat(combinedLine("GET", "/calm", 200, 5), n)
	}
	for name, c := range map[string]struct {
		log    string
		prefix int64
	}{
		"busy":      {generated(t, gen.Options{Lines: 5_000, Seed: 3}), 100_000},
		"ltsv":      {generated(t, gen.Options{Lines: 5_000, Seed: 3, Format: gen.LTSV}), 100_000},
		"json":      {generated(t, gen.Options{Lines: 5_000, Seed: 3, Format: gen.JSON}), 100_000},
		"few":       {hostile(r, 8_000, 30), 50_000},
		"many":      {hostile(r, 15_000, 10_000), 200_000},
		"thicket":   {thicket(r, 25_000, 20), 50_000},
		"surprise":  {plain(2000) + hostile(r, 30_000, 40_000), 100_000},
		"bad lines": {plain(500) + "nonsense\n\nmore\n" + plain(500), 1000},
	} {
		t.Run(name, func(t *testing.T) {
			var want []byte
			for _, o := range []Options{{Workers: 1}, {Workers: 2}, {Workers: 5, BlockSize: 7777}, {Workers: 3, BlockSize: 300}} {
				o.Prefix, o.PerSecond = c.prefix, true
				p := read(t, o, c.log)
				got, err := json.MarshalIndent(p, "", " ")
				if err != nil {
					t.Fatal(err)
				}
				if want == nil {
					want = got
				} else if !bytes.Equal(want, got) {
					t.Fatalf("%+v differs: %s", o, firstDifference(want, got))
				}
			}
			var p iikanji.Profile
			if err := json.Unmarshal(want, &p); err != nil {
				t.Fatal(err)
			}
			var count int64
			for _, row := range p.Rows {
				count += row.Count
				var seconds int64
				for _, n := range row.PerSecond.Counts {
					seconds += int64(n)
				}
				if seconds != row.Count {
					t.Errorf("%s: %d requests in its seconds, %d in all", row.Key, seconds, row.Count)
				}
			}
			if n := p.Intake.Lines - p.Intake.Bad; count != n || len(p.Rows) > 3*maxRoutes {
				t.Errorf("%d of %d requests in %d rows", count, n, len(p.Rows))
			}
			t.Log(len(p.Rows), "rows", p.Notes)

		})
	}
}

func firstDifference(a, b []byte) string {
	la, lb := strings.Split(string(a), "\n"), strings.Split(string(b), "\n")
	for i := range la {
		if i >= len(lb) || la[i] != lb[i] {
			return fmt.Sprintf("line %d: %s | %s (%d and %d lines)", i, la[i], lb[min(i, len(lb)-1)], len(la), len(lb))
		}
	}
	return "the second is longer"
}

// TestFilesAreOneLog: a log split into files at any line gives the same result.
func TestFilesAreOneLog(t *testing.T) {
	log := generated(t, gen.Options{Lines: 3000, Seed: 9})
	whole := read(t, Options{Prefix: 50_000}, log)
	r := rand.New(rand.NewPCG(1, 1))
	for range 5 {
		cut := strings.LastIndexByte(log[:r.IntN(len(log)-1)+1], '\n') + 1
		parts := read(t, Options{Prefix: 50_000}, log[:cut], log[cut:])
		if len(parts.Rows) != len(whole.Rows) || parts.Intake.Lines != whole.Intake.Lines {
			t.Fatalf("%d rows of %d", len(parts.Rows), len(whole.Rows))
		}
		for i := range whole.Rows {
			a, b := whole.Rows[i], parts.Rows[i]
			a.Example, b.Example = iikanji.Sighting{}, iikanji.Sighting{}
			x, _ := json.Marshal(a)
			y, _ := json.Marshal(b)
			if !bytes.Equal(x, y) {
				t.Fatalf("cut at %d: %s\n%s", cut, x, y)
			}
		}
	}
}
