package accesslog

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/bench/access/gen"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

func conditions(t *testing.T, text string) Options {
	t.Helper()
	where, err := ParseWhere(text, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	return Options{Where: where}
}

// waysOfReading are groupings and conditions, one of which selects no line and
// one of which needs a field that the logs do not have.
func waysOfReading(t *testing.T) []Options {
	byURL := conditions(t, "status=200,method=GET")
	byURL.By = ByURL
	return []Options{{PerSecond: true, Slowest: 3}, byURL, conditions(t, "status=404"), {By: ByStatus}, conditions(t, "status=299"), {By: ByStatus, ThenBy: []By{ByRoute}},
		{By: ByHost}}
}

// TestReadAll checks that several groupings of one reading give the same profiles as
// Read alone: for logs of several formats, for a log whose format changes, and for a
// log whose beginning does not show its routes.
func TestReadAll(t *testing.T) {
	tier.Slow(t)
	logs := map[string]string{
		"generated": generated(t, gen.Options{Seed: 1, Lines: 20_000}),
		"hostile":   hostile(rand.New(rand.NewPCG(1, 2)), 15_000, 4000),
		"changing":  strings.Repeat(combinedLine("GET", "/a/7", 404, 5), 3000) + strings.Repeat("time:2026-11-19T04:04:05+00:00\tmethod:GET\turi:/a/8\tstatus:200\tsize:5\treqtime:0.1\n", 3000),
		"empty":     "",
	}
	for name, log := range logs {
		t.Run(name, func(t *testing.T) {
			ways := waysOfReading(t)
			for i := range ways {
				ways[i].Workers = 1 // so that sketches are equal to the last bit
				ways[i].Prefix = 64 << 10
			}
			got, err := ReadAll(t.Context(), []*lines.Input{lines.Bytes("access.log", []byte(log))}, ways)
			if err != nil {
				t.Fatal(err)
			}
			for i, way := range ways {
				want, err := readErr(t, way, log)
				if (err == nil) != (got[i].Err == nil) || err != nil && err.Error() != got[i].Err.Error() {
					t.Errorf("way %d: error %v, want %v", i, got[i].Err, err)
				}
				if !reflect.DeepEqual(got[i].Profile, want) {
					t.Errorf("way %d:\n%+v\nwant\n%+v", i, got[i].Profile, want)
				}
			}
		})
	}
}

// TestReadAllReadsOnce reads a stream, which has no second pass, in several
// ways. Only the way that needs two passes has an error.
func TestReadAllReadsOnce(t *testing.T) {
	log := generated(t, gen.Options{Seed: 1, Lines: 20_000})
	in, err := lines.Stream("access.log", strings.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	ways := waysOfReading(t)
	got, err := ReadAll(t.Context(), []*lines.Input{in}, ways)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		if got[i].Err != nil || len(got[i].Profile.Rows) == 0 || got[i].Profile.Intake.Lines != 20_000 {
			t.Errorf("way %d: %v", i, got[i].Err)
		}
	}
	var empty *EmptyError
	if !errors.As(got[4].Err, &empty) || !errors.Is(got[5].Err, errStream) {
		t.Errorf("errors %v and %v", got[4].Err, got[5].Err)
	}
}

// A countingFormat counts the lines that its parsers parse.
type countingFormat struct {
	format
	lines *int
}

func (f countingFormat) parser(needs fieldSet) parser {
	return countingParser{f.format.parser(needs), f.lines}
}

type countingParser struct {
	parser
	lines *int
}

func (p countingParser) parse(line []byte, rec *record) reason {
	*p.lines++
	return p.parser.parse(line, rec)
}

// TestReadAllParsesOnce counts with all ways that an observer uses, and checks
// that each line is parsed once for all of them.
func TestReadAllParsesOnce(t *testing.T) {
	log := strings.Repeat(combinedLine("GET", "/a/7", 200, 5), 1000) + strings.Repeat(combinedLine("GET", "/b", 404, 5), 500)
	inputs := []*lines.Input{lines.Bytes("access.log", []byte(log))}
	ways := []Options{{PerSecond: true}, conditions(t, "status=200"), conditions(t, "status=404,method=GET"), {By: ByURL}, {By: ByStatus}}
	parsed := 0
	var all []*reading
	for _, way := range ways {
		way.Workers = 1
		r, err := newReading(inputs, way)
		if err != nil {
			t.Fatal(err)
		}
		r.formats[0] = countingFormat{r.formats[0], &parsed}
		all = append(all, r)
	}
	shared := newReader(inputs, all[0].opt)
	for _, r := range all {
		r.reader = shared
	}
	if err := countTogether(t.Context(), shared, all); err != nil {
		t.Fatal(err)
	}
	if parsed != 1500 {
		t.Errorf("%d lines were parsed, the log has 1500", parsed)
	}
	for i, want := range []int64{1500, 1000, 500, 1500, 1500} {
		got := int64(0)
		p, err := all[i].profile()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range p.Rows {
			got += row.Count
		}
		if got != want {
			t.Errorf("way %d: %d lines are counted, want %d", i, got, want)
		}
	}
}
