package tally

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
)

func TestSketchBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for n := range 200 {
		var s, back Sketch
		for range n * n / 3 {
			s.Add(time.Duration(r.Int64N(1 << (1 + r.IntN(60)))))
		}
		b, _ := s.MarshalBinary()
		if err := back.UnmarshalBinary(b); err != nil {
			t.Fatalf("%d values: %v", s.Count(), err)
		}
		again, _ := back.MarshalBinary()
		if !bytes.Equal(b, again) || back.Quantile(0.9) != s.Quantile(0.9) || back.Stddev() != s.Stddev() || back.Sum() != s.Sum() {
			t.Fatalf("%d values: another sketch came back", s.Count())
		}
		for cut := range min(len(b), 40) {
			if err := new(Sketch).UnmarshalBinary(b[:cut]); err == nil && cut < len(b) {
				t.Fatalf("a sketch cut to %d of %d bytes was read", cut, len(b))
			}
		}
	}
}

func FuzzSketchBytes(f *testing.F) {
	var s Sketch
	f.Add([]byte{})
	for i := range 20 {
		b, _ := s.MarshalBinary()
		f.Add(b)
		s.AddN(time.Duration(i)*time.Millisecond, int64(i))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var s, back Sketch
		if s.UnmarshalBinary(b) != nil {
			return
		}
		again, _ := s.MarshalBinary()
		if err := back.UnmarshalBinary(again); err != nil {
			t.Fatalf("what was read and written cannot be read: %v", err)
		}
		s.Quantile(0.5)
		s.Stddev()
		s.Merge(&back)
	})
}

// TestStddev compares with the two-pass formula, also where all values are
// nearly the same and a sum of squares in floats would lose everything.
func TestStddev(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, base := range []float64{0, 1e6, 1e12, 3e15} {
		var s Sketch
		var vs []float64
		for range 1000 {
			v := time.Duration(base + float64(r.Int64N(1000)))
			s.Add(v)
			vs = append(vs, float64(v))
		}
		var mean, want float64
		for _, v := range vs {
			mean += v / 1000
		}
		for _, v := range vs {
			want += (v - mean) * (v - mean) / 1000
		}
		want = math.Sqrt(want)
		if got := float64(s.Stddev()); math.Abs(got-want) > 1+want/1000 {
			t.Errorf("around %g: stddev %g, want %g", base, got, want)
		}
	}
}

// TestAddN: n at once is n times one.
func TestAddN(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for range 300 {
		var a, b Sketch
		for range r.IntN(6) {
			d, n := time.Duration(r.Int64N(1<<50)), r.Int64N(4)
			a.AddN(d, n)
			for range n {
				b.Add(d)
			}
		}
		x, _ := a.MarshalBinary()
		y, _ := b.MarshalBinary()
		if !bytes.Equal(x, y) {
			t.Fatalf("AddN differs: %v %v", &a, &b)
		}
	}
}

func TestSketchAllocates(t *testing.T) {
	var s Sketch
	for i := range 100 {
		s.Add(time.Duration(i) * time.Millisecond)
	}
	if n := testing.AllocsPerRun(100, func() { s.Add(50 * time.Millisecond) }); n != 0 {
		t.Errorf("adding allocates %v times", n)
	}
}

func newCounts(limit int) *Table[int] {
	return NewTable(limit, func(into, from *int) { *into += *from })
}

// TestTableAnySplit: the kept keys and all counts are the same for every order
// and division of the keys.
func TestTableAnySplit(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	for round := range 60 {
		limit := 1 + r.IntN(50)
		keys := make([]string, 1+r.IntN(3000))
		for i := range keys {
			keys[i] = fmt.Sprint("key", r.IntN(1+r.IntN(400)))
		}
		var first map[string]int
		for try := range 4 {
			r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
			tables := []*Table[int]{newCounts(limit), newCounts(limit), newCounts(limit)}
			for _, k := range keys {
				*tables[r.IntN(1+try%3)].At([]byte(k))++
			}
			all := tables[0]
			for _, o := range tables[1:] {
				all.Merge(o)
			}
			all.Settle()
			got := map[string]int{}
			total := 0
			for k, v := range all.All() {
				got[string(k)] = *v
				total += *v
			}
			over, ok := all.Overflow()
			got[""] = *over
			if total+*over != len(keys) || len(got) > limit+1 || ok != (*over > 0) || all.n != len(got)-1 {
				t.Fatalf("round %d: %d counted of %d, %d keys of %d, overflow %d %v", round, total+*over, len(keys), len(got)-1, limit, *over, ok)
			}
			if try == 0 {
				first = got
			} else if !reflect.DeepEqual(first, got) {
				t.Fatalf("round %d: another order gave another table", round)
			}
		}
	}
}

func TestHashUsesEveryByte(t *testing.T) {
	for n := 1; n < 70; n++ {
		b := bytes.Repeat([]byte("a"), n)
		seen := map[uint64]bool{Hash(b, 1): true, Hash(b, 2): true, Hash(b[:n-1], 1): true}
		for i := range b {
			b[i] = 'b'
			seen[Hash(b, 1)] = true
			b[i] = 'a'
		}
		if len(seen) != n+3 {
			t.Errorf("%d bytes: %d different hashes, want %d", n, len(seen), n+3)
		}
	}
}

func profile(r *rand.Rand, target string) *iikanji.Profile {
	p := &iikanji.Profile{Version: 1, Source: iikanji.Access, Target: target}
	p.Intake = iikanji.Intake{Format: "combined", Files: []string{target}, Lines: 10, First: time.Unix(r.Int64N(1000), 0), Last: time.Unix(2000+r.Int64N(1000), 0)}
	for i := range 1 + r.IntN(5) {
		var s Sketch
		for range r.IntN(30) {
			s.Add(time.Duration(r.Int64N(1e9)))
		}
		row := iikanji.Row{Key: fmt.Sprint("GET /", i), Count: s.Count() + 1, Web: &iikanji.WebRow{Method: "GET", Bytes: 5, MaxBytes: iikanji.Bytes(r.IntN(9))}}
		row.Web.Status[2] = row.Count
		s.Fill(&row)
		row.Example = iikanji.Sighting{Text: "x", Line: r.Int64N(100), Took: s.Max(), File: target}
		p.Rows = append(p.Rows, row)
	}
	return p
}

// TestMergeProfiles: any order and grouping of merging is the same.
func TestMergeProfiles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	merge := func(ps ...*iikanji.Profile) *iikanji.Profile {
		m, err := Merge(ps...)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for range 50 {
		a, b, c := profile(r, "a"), profile(r, "b"), profile(r, "c")
		want, _ := json.Marshal(merge(a, b, c))
		got, _ := json.Marshal(merge(c, b, a))
		if !bytes.Equal(want, got) {
			t.Fatalf("order matters:\n%s\n%s", want, got)
		}
		nested := merge(merge(c, a), b)
		nested.Target = "a, b, c"
		if got, _ = json.Marshal(nested); !bytes.Equal(want, got) {
			t.Fatalf("grouping matters:\n%s\n%s", want, got)
		}
	}
	a, b := profile(r, "a"), profile(r, "b")
	b.Source = iikanji.Slow
	if _, err := Merge(a, b); err == nil {
		t.Error("two sources merged")
	}
	a.Rows[0].Time, a.Rows[0].Total = nil, time.Second
	if _, err := Merge(a); err == nil {
		t.Error("a profile without sketches merged")
	}
}

func TestSortRows(t *testing.T) {
	rows := []iikanji.Row{{Key: "c"}, {Key: "b", Count: 1}, {Key: "a"}, {Key: "d", Total: 1}}
	SortRows(rows)
	var keys []string
	for _, r := range rows {
		keys = append(keys, r.Key)
	}
	if want := []string{"d", "b", "a", "c"}; !slices.Equal(keys, want) {
		t.Errorf("%v, want %v", keys, want)
	}
}

func BenchmarkSketchAdd(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	var vs [4096]time.Duration
	for i := range vs {
		vs[i] = time.Duration(math.Exp(r.NormFloat64()) * 1e7)
	}
	var s Sketch
	i := 0
	for b.Loop() {
		s.Add(vs[i&4095])
		i++
	}
	if s.Count() != int64(i) {
		b.Fatal(s.Count())
	}
}

func BenchmarkTableAt(b *testing.B) {
	t := newCounts(10000)
	var keys [1024][]byte
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "select * from t%d where id = ?", i)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		*t.At(keys[i&1023])++
		i++
	}
}

// TestMergeUnknown: a sum is known if a part of it is, and unknown if none is.
func TestMergeUnknown(t *testing.T) {
	of := func(unknown bool, sent int64) *iikanji.Profile {
		return &iikanji.Profile{Source: iikanji.Slow, Rows: []iikanji.Row{{Key: "a", Count: 1, Query: &iikanji.SQLRow{Digest: "1", Sent: sent, NoSent: unknown, NoExamined: unknown}}}}
	}
	for _, c := range []struct {
		a, b *iikanji.Profile
		want bool
	}{{of(true, 0), of(false, 5), false}, {of(false, 5), of(true, 0), false}, {of(true, 0), of(true, 0), true}} {
		p, err := Merge(c.a, c.b)
		if err != nil || p.Rows[0].Query.NoSent != c.want || p.Rows[0].Query.NoExamined != c.want {
			t.Errorf("%+v, %v", p, err)
		}
	}
}
