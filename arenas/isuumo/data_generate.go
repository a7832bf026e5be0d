package isuumo

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"unicode/utf8"
)

const (
	dataSeed     = 2020
	descriptions = 1000 // of each table
	thumbnails   = 1000 // of each table
	spread       = 0.3  // degrees; standard deviation of coordinates around a city
)

// A size is the number of rows of each table.
type size struct {
	initial, verify int
	files, perFile  int // posted under load
}

// contestSize is what everything but tests uses.
var contestSize = size{initial: 29500, verify: 500, files: 20, perFile: 500}

// suiteSize is the size of tests: initialize takes a fraction of a second, and a run of
// the checks not much more. With 2,000 rows, a polygon with more estates than an answer can
// hold would not be found for each seed.
var suiteSize = size{initial: 2500, verify: 100, files: 20, perFile: 100}

// generate makes the data set. The result is the same at every call.
func generate(s size) *Dataset {
	chairs := newChairMaker()
	estates := newEstateMaker()
	set := &Dataset{
		Chairs:        many(s.initial, chairs.next),
		VerifyChairs:  many(s.verify, chairs.next),
		DraftChairs:   many(s.files, func() []Chair { return many(s.perFile, chairs.next) }),
		Estates:       many(s.initial, estates.next),
		VerifyEstates: many(s.verify, estates.next),
		DraftEstates:  many(s.files, func() []Estate { return many(s.perFile, estates.next) }),
	}
	set.VerifyChairs[0].Stock = 1 // bought by the compatibility check, which then expects it sold out
	return set
}

// many calls next n times.
func many[T any](n int, next func() T) []T {
	list := make([]T, n)
	for i := range list {
		list[i] = next()
	}
	return list
}

// A maker has what both tables need.
type maker struct {
	r     *rand.Rand
	id    int64
	lines []string // descriptions
	files []string // thumbnails
}

func newMaker(stream uint64, folder string, p prose) maker {
	r := rand.New(rand.NewPCG(dataSeed, stream))
	return maker{r: r, lines: proseLines(r, p), files: many(thumbnails, func() string {
		return fmt.Sprintf("/images/%s/%016x%016x%016x%016x.png", folder, r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64())
	})}
}

// proseLines makes different descriptions of 50 to 80 characters.
func proseLines(r *rand.Rand, p prose) []string {
	var lines []string
	seen := map[string]bool{}
	for len(lines) < descriptions {
		line := one(r, p[0]) + one(r, p[1]) + one(r, p[2])
		if n := utf8.RuneCountInString(line); n >= 50 && n <= 80 && !seen[line] {
			seen[line] = true
			lines = append(lines, line)
		}
	}
	return lines
}

func one[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// between draws from low to high, both included.
func (m *maker) between(low, high int64) int64 { return low + m.r.Int64N(high-low+1) }

// side draws a length of a chair or a door in cm.
func (m *maker) side() int64 { return m.between(30, 200) }

func (m *maker) popularity() int64 { return m.between(3000, 1000000) }

// features draws up to three different labels.
func (m *maker) features(labels []string) string {
	var chosen []string
	for _, i := range m.r.Perm(len(labels))[:m.r.IntN(4)] {
		chosen = append(chosen, labels[i])
	}
	return strings.Join(chosen, ",")
}

type chairMaker struct {
	maker
	offer ChairConditions
}

func newChairMaker() *chairMaker {
	return &chairMaker{newMaker(1, "chair", chairProse), chairConditions()}
}

// next draws the chair with the next id.
func (m *chairMaker) next() Chair {
	m.id++
	return Chair{
		ID:          m.id,
		Name:        one(m.r, chairPrefixes[:]) + one(m.r, chairProperties[:]) + one(m.r, chairNouns[:]),
		Description: one(m.r, m.lines),
		Thumbnail:   one(m.r, m.files),
		Price:       m.between(1000, 20000),
		Height:      m.side(),
		Width:       m.side(),
		Depth:       m.side(),
		Color:       one(m.r, m.offer.Color.List),
		Features:    m.features(m.offer.Feature.List),
		Kind:        one(m.r, m.offer.Kind.List),
		Popularity:  m.popularity(),
		Stock:       m.between(1, 10),
	}
}

type estateMaker struct {
	maker
	offer EstateConditions
}

func newEstateMaker() *estateMaker {
	return &estateMaker{newMaker(2, "estate", estateProse), estateConditions()}
}

// next draws the estate with the next id.
func (m *estateMaker) next() Estate {
	m.id++
	near := one(m.r, cities[:])
	return Estate{
		ID:          m.id,
		Name:        one(m.r, families[:]) + one(m.r, houses[:]),
		Description: one(m.r, m.lines),
		Thumbnail:   one(m.r, m.files),
		Address: fmt.Sprintf("%s%s%d丁目%d番%d号", near.name, one(m.r, towns[:]),
			m.between(1, 9), m.between(1, 40), m.between(1, 30)),
		Latitude:   m.around(near.latitude),
		Longitude:  m.around(near.longitude),
		Rent:       m.between(30000, 200000),
		DoorHeight: m.side(),
		DoorWidth:  m.side(),
		Features:   m.features(m.offer.Feature.List),
		Popularity: m.popularity(),
	}
}

// around draws a coordinate near another. It has eight decimals, which is more
// than the six of the app's geometries, and few enough that every machine writes
// the same digits.
func (m *maker) around(degrees float64) float64 {
	return math.Round((degrees+m.r.NormFloat64()*spread)*1e8) / 1e8
}
