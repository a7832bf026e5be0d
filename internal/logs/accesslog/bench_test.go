package accesslog

import (
	"strings"
	"testing"

	"github.com/iikanji/iikanji/bench/access/gen"
	"github.com/iikanji/iikanji/internal/logs/lines"
)

// warmed returns a worker that has read a log several times, as after the first
// blocks: the sketches of rare routes no longer hold single values.
func warmed(t testing.TB, log string, opt Options) (*counter, *lines.Block) {
	t.Helper()
	in := lines.Bytes("access.log", []byte(log))
	r := &reading{inputs: []*lines.Input{in}, opt: opt.filled(), seed: 1}
	if err := r.recognise(); err != nil {
		t.Fatal(err)
	}
	c := r.newCounter()
	b := &lines.Block{Data: []byte(log)}
	for range 8 {
		if err := c.block(b); err != nil {
			t.Fatal(err)
		}
	}
	return c, b
}

// TestNothingAllocated: in the steady state a line allocates no memory, in
// every format and grouping.
func TestNothingAllocated(t *testing.T) {
	where, err := ParseWhere("status>=200,path!=/none,time>=0s", nil)
	if err != nil {
		t.Fatal(err)
	}
	route, err := Route("/api/isu/:id/icon")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		format gen.Format
		opt    Options
	}{
		"combined": {gen.Combined, Options{}},
		"ltsv":     {gen.LTSV, Options{}},
		"json":     {gen.JSON, Options{}},
		"keys":     {gen.Combined, Options{QueryKeys: true}},
		"where":    {gen.Combined, Options{Where: where}},
		"patterns": {gen.Combined, Options{Routes: []Pattern{route}}},
		"agents":   {gen.Combined, Options{By: ByAgent}},
		"minutes":  {gen.Combined, Options{By: ByMinute}},
	} {
		log := generated(t, gen.Options{Format: c.format, Lines: 2000, Seed: 4})
		w, b := warmed(t, log, c.opt)
		if n := testing.AllocsPerRun(5, func() { w.block(b) }); n != 0 {
			t.Errorf("%s: %v allocations for 2000 lines", name, n)
		}
	}
}

// TestMemoryIsBounded: the rows and nodes of a worker stay bounded if every
// path of the log is new.
func TestMemoryIsBounded(t *testing.T) {
	for _, shape := range []string{"words", "thicket"} {
		r := newRouter(1, false, nil)
		r.limit = maxRoutes
		var b strings.Builder
		if err := gen.WriteHostile(&b, shape, 30_000, 3); err != nil {
			t.Fatal(err)
		}
		f := detect(sampleOfLines([]byte(b.String()[:10_000])), nil)
		p := f.parser(fieldSet{})
		var rec record
		rec.clear()
		n := int64(0)
		for line := range strings.Lines(b.String()) {
			if why := p.parse([]byte(strings.TrimSuffix(line, "\n")), &rec); why != 0 {
				t.Fatal(f.explain(why))
			}
			r.find(&rec).add(&rec, place{})
			n++
		}
		if len(r.rows) > 2*maxRoutes || len(r.nodes) > 2*maxRoutes*maxSegments {
			t.Errorf("%s: %d rows, %d nodes", shape, len(r.rows), len(r.nodes))
		}
		sum := r.overflow.count
		for _, w := range r.rows {
			sum += w.count
		}
		if sum != n {
			t.Errorf("%s: %d of %d lines counted", shape, sum, n)
		}
	}
}

func benchmark(b *testing.B, format gen.Format, opt Options) {
	log := generated(b, gen.Options{Format: format, Lines: 20_000, Seed: 4})
	w, block := warmed(b, log, opt)
	want := w.files[0].lines
	if want != 8*20_000 || w.files[0].bad != 0 {
		b.Fatalf("%d lines, %d bad", want, w.files[0].bad)
	}
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		if err := w.block(block); err != nil {
			b.Fatal(err)
		}
		want += 20_000
	}
	if w.files[0].lines != want { // fail if lines were skipped
		b.Fatalf("%d lines of %d", w.files[0].lines, want)
	}
}

func BenchmarkCombined(b *testing.B) { benchmark(b, gen.Combined, Options{}) }
func BenchmarkLTSV(b *testing.B)     { benchmark(b, gen.LTSV, Options{}) }
func BenchmarkJSON(b *testing.B)     { benchmark(b, gen.JSON, Options{}) }
func BenchmarkKeys(b *testing.B)     { benchmark(b, gen.Combined, Options{QueryKeys: true}) }
func BenchmarkByAgent(b *testing.B)  { benchmark(b, gen.Combined, Options{By: ByAgent}) }

func BenchmarkPatterns(b *testing.B) {
	var all []Pattern
	for _, p := range gen.Patterns() {
		m, err := Matches(p.Regexp)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, m...)
	}
	benchmark(b, gen.Combined, Options{Routes: all})
}
