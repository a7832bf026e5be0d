package isutrain

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
)

// The classes of trains and of seats, as the API writes them.
const (
	express     = "最速"
	semiExpress = "中間"
	local       = "遅いやつ"

	premium     = "premium"
	reserved    = "reserved"
	nonReserved = "non-reserved"
)

const (
	stations   = 82
	lineLength = 1024.98 // kilometres
)

// A line are the stations and trains.
type line struct {
	size     dataSize
	stations []station  // by ID-1
	trains   [][]*train // by day, in the order of their departure
}

type station struct {
	ID            int
	Name          string
	Distance      float64
	Express, Semi bool
}

// A train runs on one day. Its times have seconds since midnight, also beyond the next one,
// for each station by ID-1 at which its class stops, whether the train gets there or not.
type train struct {
	day                int
	class, name        string
	start, last        int // stations
	up                 bool
	departs            int // from its end of the line
	departure, arrival [stations]int
}

// The stations at which classes stop.
var (
	expressStops = []int{1, 6, 27, 42, 65, 70, 74, 80, 82}
	semiStops    = []int{1, 2, 5, 6, 8, 9, 10, 17, 27, 29, 30, 31, 32, 36, 38, 39, 42, 51, 55, 56, 58, 61,
		64, 65, 66, 67, 68, 69, 70, 71, 73, 74, 79, 80, 81, 82}
	bigCities = map[int]string{1: "東京", 42: "名古屋", 65: "京都", 82: "大阪"}
)

// Parts of the names of stations.
var (
	firstParts  = []rune("青朝天石岩江大小川北桜沢白杉高竹月鶴寺中長浪西野花春東平広藤星松水緑南宮森柳山雪吉若")
	secondParts = []rune("井浦尾岡沖上木口倉坂崎里島瀬園田谷津戸野畑原林淵堀町丘見本山")
)

func (s *station) stops(class string) bool {
	return class == local || class == express && s.Express || class == semiExpress && s.Semi
}

func (l *line) station(id int) *station { return &l.stations[id-1] }

// draw makes the data.
func (s dataSize) draw() *line {
	l := &line{size: s}
	l.drawStations(rand.New(rand.NewPCG(dataSeed, 1)))
	for day := range s.Days {
		l.trains = append(l.trains, l.drawDay(rand.New(rand.NewPCG(dataSeed, uint64(100+day))), day))
	}
	return l
}

func (l *line) drawStations(r *rand.Rand) {
	gaps, total := make([]float64, stations-1), 0.0
	for i := range gaps {
		gaps[i] = min(max(r.NormFloat64()*4.4+12.65, 5.4), 19.6)
		total += gaps[i]
	}
	taken, position := map[string]bool{}, 0.0
	for id := 1; id <= stations; id++ {
		name := bigCities[id]
		for name == "" || taken[name] {
			name = string([]rune{firstParts[r.IntN(len(firstParts))], secondParts[r.IntN(len(secondParts))]})
		}
		taken[name] = true
		l.stations = append(l.stations, station{ID: id, Name: name, Distance: math.Round(position*100) / 100,
			Express: slices.Contains(expressStops, id), Semi: slices.Contains(semiStops, id)})
		if id < stations {
			position += gaps[id-1] * lineLength / total
		}
	}
}

// Times of departure in seconds: two series, one for each direction.
const (
	firstDeparture = 6 * 60 * 60
	meanDistance   = 20 * 60 // between trains of a direction; the contest had twice as many trains
	jitter         = 4 * 60
)

// nameOf is the name of the i-th train of a day: every second pair of the contest's 192
// names, so that names have one, two and three digits, as there.
func nameOf(i int) string { return strconv.Itoa(i/2*4 + i%2 + 1) }

// drawDay makes the trains of a day. Odd names go down the line, even ones up.
func (l *line) drawDay(r *rand.Rand, day int) (trains []*train) {
	var next [2]int
	for i := range next {
		next[i] = firstDeparture + i*meanDistance/2 + r.IntN(jitter)
	}
	for i := range l.size.Trains {
		t := &train{day: day, name: nameOf(i), up: i%2 == 1, departs: next[i%2]}
		next[i%2] += meanDistance - jitter + r.IntN(2*jitter+1)
		switch n := r.Float64(); {
		case n < 0.5:
			t.class = express
		case n < 0.625:
			t.class = semiExpress
		default:
			t.class = local
		}
		t.start, t.last = 1, []int{82, 82, 42, 65}[r.IntN(4)]
		if day == 0 && i == 0 { // the train of the scenario that wants any seats
			t.class, t.last = express, stations
		}
		if day == 0 && i == l.size.testerTrain() { // the train of the background tester
			t.class, t.last = local, stations
		}
		if t.up {
			t.start, t.last = t.last, t.start
		}
		l.drawTimes(r, t)
		trains = append(trains, t)
	}
	return trains
}

// testerTrain is the index of the train of the background tester on the first day: of 96
// trains it is number 161.
func (s dataSize) testerTrain() int { return s.Trains * 5 / 12 * 2 }

// drawTimes has a train stop along the line in its direction.
func (l *line) drawTimes(r *rand.Rand, t *train) {
	speed, stay := 480.0, func() float64 { return 120 + 120*r.Float64() }
	switch t.class {
	case express:
		speed, stay = 500, func() float64 { return 60 }
	case semiExpress:
		stay = func() float64 { return 120 + 60*r.Float64() }
	}
	now, before := float64(t.departs), -1.0
	for i := range stations {
		id := i + 1
		if t.up {
			id = stations - i
		}
		s := l.station(id)
		if !s.stops(t.class) {
			continue
		}
		if before >= 0 {
			now += math.Abs(s.Distance-before) / speed * 3600
		}
		t.arrival[id-1] = int(now)
		if before >= 0 {
			now += stay()
		}
		t.departure[id-1] = int(now)
		before = s.Distance
	}
}
