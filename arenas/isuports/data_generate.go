package isuports

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"
)

const (
	dataSeed = 2022

	// finishedShare, disqualifiedShare and scoredShare are the parts of the
	// competitions, of the players and of the players of a competition that are
	// finished, disqualified and have scores.
	finishedShare     = 0.5
	disqualifiedShare = 0.1
	scoredShare       = 0.9

	// samplesEach is the number of samples of a competition.
	samplesEach = 5

	// Prices of a finished competition in yen.
	playerYen  = 100
	visitorYen = 10
)

// The rows of one tenant. Times are Unix seconds.
type (
	tenantData struct {
		id                int64
		name, displayName string
		created           int64
		players           []playerData
		competitions      []competitionData
	}
	playerData struct {
		id, name     string
		disqualified bool
		created      int64
	}
	competitionData struct {
		id, title string
		created   int64
		finished  int64 // 0 while it is not
		visits    []visitData
		scores    []scoreData // in the order of their times
		joined    []int       // players who could take part, as indexes
		billing   int64
	}
	visitData struct {
		player int // index
		at     int64
	}
	scoreData struct {
		id     int64
		player int // index
		score  int64
		at     int64
	}
)

// ids gives out ids that are unique over all tenants.
type ids struct {
	r    *rand.Rand
	next []uint16 // counter of each second plus 1; 0 before its first id
}

const idsPerSecond = 10000

func newIDs() *ids {
	return &ids{rand.New(rand.NewPCG(dataSeed, 0)), make([]uint16, dataEnd-dataBegin+1)}
}

// take returns the next id of a second. The counter of a second begins at a
// random place below 100. A full second continues in an earlier one.
func (i *ids) take(at int64) int64 {
	second := at - dataBegin
	for i.next[second] > idsPerSecond {
		second--
	}
	if i.next[second] == 0 {
		i.next[second] = uint16(i.r.IntN(100)) + 1
	}
	id := second*idsPerSecond + int64(i.next[second]) - 1
	i.next[second]++
	return id
}

// idText is an id as the app prints it.
func idText(id int64) string { return strconv.FormatInt(id, 16) }

// between draws a number of a range, both ends included.
func between(r *rand.Rand, b bounds) int { return b.least + r.IntN(b.most-b.least+1) }

// timeBetween draws a time of a range, both ends included.
func timeBetween(r *rand.Rand, from, to int64) int64 { return from + r.Int64N(to-from+1) }

// repeats draws how often something happens: a loop whose limit is drawn again in
// each round. The contest's numbers are made like this; their mean is far below
// that of the limits.
func repeats(r *rand.Rand, limit bounds) int {
	n := 0
	for n < between(r, limit) {
		n++
	}
	return n
}

// drawTenant makes a tenant with all its rows.
func (s dataSize) drawTenant(id int64, ids *ids) *tenantData {
	r := rand.New(rand.NewPCG(dataSeed, uint64(id)))
	t := &tenantData{id: id}
	players, competitions := between(r, s.Players), between(r, s.Competitions)
	const step = int64(3 * time.Hour / time.Second)
	switch id {
	case 1:
		t.name, t.displayName, t.created = "isucon", "ISUコングロマリット", dataBegin
		players, competitions = s.HugePlayers, s.Competitions.most
	case 2:
		t.name, t.displayName, t.created = "kayac", "KAYAC", dataBegin+int64(5*time.Minute/time.Second)
	default:
		slug, display := tenantWords(r)
		t.name, t.displayName = fmt.Sprintf("%s-%d", slug, id), display
		t.created = timeBetween(r, dataBegin+step*id, dataBegin+step*(id+1))
	}
	if id <= 2 { // accounts with known ids, for people who log in
		t.players = append(t.players, playerData{id: fmt.Sprintf("%04d", id), name: personName(r), created: t.created})
	}
	for range players {
		at := timeBetween(r, t.created, dataEnd)
		t.players = append(t.players, playerData{idText(ids.take(at)), personName(r), r.Float64() < disqualifiedShare, at})
	}
	for range competitions {
		t.competitions = append(t.competitions, s.drawCompetition(r, t, ids))
	}
	return t
}

// drawCompetition makes a competition with its visits and scores.
func (s dataSize) drawCompetition(r *rand.Rand, t *tenantData, ids *ids) competitionData {
	c := competitionData{title: competitionTitle(r), created: timeBetween(r, t.created, dataEnd)}
	c.id = idText(ids.take(c.created))
	end := dataEnd
	if r.Float64() < finishedShare {
		c.finished = timeBetween(r, c.created, dataEnd)
		end = c.finished
	}
	scored := 0
	for i, p := range t.players {
		if p.created > end {
			continue
		}
		c.joined = append(c.joined, i)
		from := timeBetween(r, max(c.created, p.created), end)
		to := timeBetween(r, from, end)
		for range repeats(r, s.Visits) {
			c.visits = append(c.visits, visitData{i, timeBetween(r, from, to)})
		}
		if r.Float64() >= scoredShare {
			continue
		}
		scored++
		for range repeats(r, s.Scores) {
			score := r.Int64N(101) * r.Int64N(101) * r.Int64N(101)
			c.scores = append(c.scores, scoreData{player: i, score: score, at: timeBetween(r, c.created, end)})
		}
	}
	slices.SortStableFunc(c.scores, func(a, b scoreData) int { return cmp.Compare(a.at, b.at) })
	for i := range c.scores {
		c.scores[i].id = ids.take(c.scores[i].at)
	}
	if c.finished != 0 {
		c.billing = int64(playerYen*scored + visitorYen*(len(c.joined)-scored))
	}
	return c
}

// add adds a tenant to what the benchmarker knows.
func (d *Dataset) add(t *tenantData) {
	known := Tenant{ID: t.id, Name: t.name, DisplayName: t.displayName, Competitions: []Competition{}}
	for n, c := range t.competitions {
		known.Billing += c.billing
		known.Competitions = append(known.Competitions, Competition{c.id, c.title, c.finished != 0, c.billing})
		r := rand.New(rand.NewPCG(uint64(t.id), uint64(n)))
		for _, i := range r.Perm(len(c.joined))[:min(samplesEach, len(c.joined))] {
			p := t.players[c.joined[i]]
			d.Samples = append(d.Samples, Sample{t.name, c.id, c.finished != 0, p.id, p.disqualified})
		}
	}
	d.Tenants = append(d.Tenants, known)
}
