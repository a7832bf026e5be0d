package tally

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
)

// subBits is the resolution of a Sketch: every power of two is cut into
// 2^subBits equal buckets, so a bucket is at most 1/64 of its lower bound wide
// and its middle is within 1/128 ≈ 0.8 % of any value in it.
const subBits = 6

const (
	pageSize = 1 << subBits
	maxPages = 64 - subBits
	maxFew   = 6
)

type page [pageSize]uint64

// A Sketch is a histogram of durations with a bounded relative error: count,
// sum, minimum and maximum are exact, quantiles are within 0.8 %. It is
// log-linear, like HdrHistogram. The first few durations are stored as values
// (most keys of a hostile log have one); later, pages of buckets are allocated
// on first use, about 5 KiB for a typical sketch. Sketches merge without loss,
// in any order. The zero value is empty and ready. A Sketch is not safe for
// concurrent use and must not be copied after the first Add.
type Sketch struct {
	count    int64
	sum      int64
	min, max int64
	sq       wide // sum of squares in ns², for the standard deviation
	pages    *[maxPages]*page
	few      [maxFew]int64 // the first count values, while pages is nil
}

// wide is an unsigned 128-bit sum: exact, so that the order of additions does
// not matter.
type wide struct{ hi, lo uint64 }

func (w *wide) addProduct(a, b uint64) {
	hi, lo := bits.Mul64(a, b)
	w.add(wide{hi, lo})
}

func (w *wide) add(o wide) {
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, o.lo, 0)
	w.hi, _ = bits.Add64(w.hi, o.hi, carry)
}

// addCapped adds two sums that are not negative; the result stays at the
// largest int64 (292 years).
func addCapped(a, b int64) int64 {
	if s := a + b; s >= 0 {
		return s
	}
	return math.MaxInt64
}

// Add counts one duration; negative ones count as 0.
func (s *Sketch) Add(d time.Duration) {
	v := int64(max(d, 0))
	if s.pages == nil {
		s.addFew(v, 1)
		return
	}
	pg, slot := bucketOf(uint64(v))
	p := s.pages[pg]
	if p == nil {
		p = new(page)
		s.pages[pg] = p
	}
	p[slot]++
	s.count++
	s.sum = addCapped(s.sum, v)
	s.min = min(s.min, v)
	s.max = max(s.max, v)
	s.sq.addProduct(uint64(v), uint64(v))
}

// AddN counts a duration n times; n < 1 does nothing.
func (s *Sketch) AddN(d time.Duration, n int64) {
	if n < 1 {
		return
	}
	v := int64(max(d, 0))
	if s.pages == nil && s.count+n <= maxFew {
		s.addFew(v, n)
		return
	}
	s.spread()
	s.bucket(v, uint64(n))
	s.note(v, n)
}

// addFew counts a value while the sketch is small, or makes it large.
func (s *Sketch) addFew(v, n int64) {
	if s.count+n > maxFew {
		s.spread()
		s.bucket(v, uint64(n))
		s.note(v, n)
		return
	}
	for i := range n {
		s.few[s.count+i] = v
	}
	s.note(v, n)
}

// note counts a value in everything but the buckets.
func (s *Sketch) note(v, n int64) {
	if s.count == 0 || v < s.min {
		s.min = v
	}
	s.max = max(s.max, v)
	s.count += n
	hi, lo := bits.Mul64(uint64(v), uint64(n))
	if hi != 0 || lo > math.MaxInt64 {
		lo = math.MaxInt64
	}
	s.sum = addCapped(s.sum, int64(lo))
	hi, lo = bits.Mul64(uint64(v), uint64(v))
	_, low := bits.Mul64(hi, uint64(n)) // beyond 128 bits it wraps: 2^64 ns squared
	s.sq.add(wide{low, 0})
	s.sq.addProduct(lo, uint64(n))
}

// spread turns the few values into buckets.
func (s *Sketch) spread() {
	if s.pages != nil {
		return
	}
	s.pages = new([maxPages]*page)
	for _, v := range s.few[:s.count] {
		s.bucket(v, 1)
	}
}

func (s *Sketch) bucket(v int64, n uint64) {
	pg, slot := bucketOf(uint64(v))
	if s.pages[pg] == nil {
		s.pages[pg] = new(page)
	}
	s.pages[pg][slot] += n
}

// bucketOf returns the bucket of a value: page 0 holds the values below
// pageSize one by one, page p ≥ 1 those of [pageSize<<(p-1), pageSize<<p).
func bucketOf(v uint64) (page, slot int) {
	if v < pageSize {
		return 0, int(v)
	}
	page = bits.Len64(v) - subBits
	return page, int(v>>(page-1)) - pageSize
}

// bucketMid returns the middle of a bucket.
func bucketMid(page, slot int) int64 {
	if page == 0 {
		return int64(slot)
	}
	lo := int64(pageSize+slot) << (page - 1)
	return lo + (int64(1)<<(page-1))/2
}

// Merge adds all of o, which stays unchanged.
func (s *Sketch) Merge(o *Sketch) {
	if o.count == 0 {
		return
	}
	if o.pages == nil {
		for _, v := range o.few[:o.count] {
			s.Add(time.Duration(v))
		}
		return
	}
	s.spread()
	for i, op := range o.pages {
		if op == nil {
			continue
		}
		if s.pages[i] == nil {
			s.pages[i] = new(page)
		}
		for j, n := range op {
			s.pages[i][j] += n
		}
	}
	if s.count == 0 || o.min < s.min {
		s.min = o.min
	}
	s.max = max(s.max, o.max)
	s.count += o.count
	s.sum = addCapped(s.sum, o.sum)
	s.sq.add(o.sq)
}

// Reset empties the sketch.
func (s *Sketch) Reset() { *s = Sketch{} }

// Count is the number of durations.
func (s *Sketch) Count() int64 { return s.count }

// Sum is their exact sum, at most 292 years.
func (s *Sketch) Sum() time.Duration { return time.Duration(s.sum) }

// Min is the exact smallest, 0 when empty.
func (s *Sketch) Min() time.Duration { return time.Duration(s.min) }

// Max is the exact largest, 0 when empty.
func (s *Sketch) Max() time.Duration { return time.Duration(s.max) }

// Mean is the exact mean, 0 when empty.
func (s *Sketch) Mean() time.Duration {
	if s.count == 0 {
		return 0
	}
	return time.Duration(s.sum / s.count)
}

// variance is that of the population, in ns²: (n·Σx² − (Σx)²) / n².
func (s *Sketch) variance() float64 {
	if s.count == 0 {
		return 0
	}
	n := big.NewInt(s.count)
	sq := new(big.Int).SetUint64(s.sq.hi)
	sq.Lsh(sq, 64).Or(sq, new(big.Int).SetUint64(s.sq.lo))
	sum := big.NewInt(s.sum)
	num := sq.Mul(sq, n).Sub(sq, new(big.Int).Mul(sum, sum))
	if num.Sign() < 0 {
		return 0 // the sums were capped
	}
	v, _ := new(big.Rat).SetFrac(num, n.Mul(n, n)).Float64()
	return v
}

// LogMoments returns the number of durations and the sums of their natural
// logarithms and of the squares of these, with durations below least counted
// as least. Equal sketches give equal results.
func (s *Sketch) LogMoments(least time.Duration) (n int64, sum, sumSquare float64) {
	add := func(v int64, n float64) {
		log := math.Log(float64(max(v, int64(least), 1)))
		sum += n * log
		sumSquare += n * log * log
	}
	if s.pages == nil {
		few := s.few
		slices.Sort(few[:s.count])
		for _, v := range few[:s.count] {
			add(v, 1)
		}
		return s.count, sum, sumSquare
	}
	for i, p := range s.pages {
		if p == nil {
			continue
		}
		for j, n := range p {
			if n > 0 {
				add(bucketMid(i, j), float64(n))
			}
		}
	}
	return s.count, sum, sumSquare
}

// Stddev is the standard deviation of the population, from exact sums.
func (s *Sketch) Stddev() time.Duration { return time.Duration(math.Sqrt(s.variance())) }

// VarianceToMean is the index of dispersion in seconds, as pt-query-digest
// prints it (V/M); 0 when empty.
func (s *Sketch) VarianceToMean() float64 {
	if s.sum == 0 {
		return 0
	}
	return s.variance() / (float64(s.sum) / float64(s.count)) / 1e9
}

// Quantile returns the value at q in 0..1 by the nearest-rank rule (the
// ⌈q·n⌉-th smallest), within 0.8 %; 0 when empty.
func (s *Sketch) Quantile(q float64) time.Duration {
	if s.count == 0 {
		return 0
	}
	rank := int64(q*float64(s.count) + 0.9999999)
	rank = min(max(rank, 1), s.count)
	switch {
	case rank == 1:
		return time.Duration(s.min)
	case rank == s.count:
		return time.Duration(s.max)
	case s.pages == nil:
		few := s.few
		slices.Sort(few[:s.count])
		return time.Duration(few[rank-1])
	}
	var seen int64
	for i, p := range s.pages {
		if p == nil {
			continue
		}
		for j, n := range p {
			if seen += int64(n); seen >= rank {
				return time.Duration(min(max(bucketMid(i, j), s.min), s.max))
			}
		}
	}
	return time.Duration(s.max)
}

// Fill sets the times of a row: total to max, and the sketch itself. The caller
// sets Count and Share, because not every line of a log has a time.
func (s *Sketch) Fill(r *iikanji.Row) {
	r.Total, r.Mean, r.Stddev = s.Sum(), s.Mean(), s.Stddev()
	r.Min, r.Max = s.Min(), s.Max()
	r.P50, r.P90, r.P95, r.P99 = s.Quantile(0.50), s.Quantile(0.90), s.Quantile(0.95), s.Quantile(0.99)
	r.Time, _ = s.MarshalBinary() // never fails
	r.Untimed = s.count == 0
}
