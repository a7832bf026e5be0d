package timeline

import (
	"cmp"
	"slices"
	"time"
)

// leastOverlap is the least length of the time at which a statement can have ended
// within a request: a time is not known better.
const leastOverlap = 50 * time.Microsecond

// A join finds the requests that sent statements. Each connection is a chain: a
// statement follows the one before it in the same request, or in any other one.
//
// That each request sends a digest a fixed number of times is not used: with it, fewer
// statements were right in bench/join (68 % instead of 92 % of the likely ones at 4
// clients).
type join struct {
	model      *Model
	requests   []joinRequest
	statements []joinStatement
	chains     [][]int // statements of each connection, in the order of time

	// Of each two digests that followed each other on a connection: how often, and in
	// one request.
	pairs, links map[[2]int]float64
}

type joinRequest struct {
	start, end int64
	step       int // -1 for one that the model does not have
	number     int // of its sample
}

type joinStatement struct {
	digest     int         // -1 for one that the model does not have
	candidates []candidate // by request; nil for more than maxCandidates
	count      int         // of all candidates
	together   bool        // in a transaction whose requests were intersected
	bound      bool        // in the transaction of the statement before it
}

// A candidate is a request that can have sent a statement.
type candidate struct {
	request int
	place   int     // part of the request's time
	mass    float64 // share of the request's time in which the statement can have ended
	weight  float64
	p       float64 // probability
}

// newJoin lists the candidates of each statement. Statements are in the order of time.
func newJoin(m *Model, all []Request, ran []Statement) *join {
	j := &join{model: m}
	longest := int64(0)
	for i := range all {
		r := &all[i]
		j.requests = append(j.requests, joinRequest{r.Start.UnixNano(), r.End.UnixNano(), indexOf(m.steps, r.Step), r.Number})
		longest = max(longest, int64(r.Took()))
	}
	slices.SortStableFunc(j.requests, func(a, b joinRequest) int { return cmp.Compare(a.start, b.start) })
	byThread := map[uint64]int{}
	for i := range ran {
		s := &ran[i]
		found, count := j.candidates(s, longest)
		j.statements = append(j.statements, joinStatement{digest: indexOf(m.digests, s.Digest), candidates: found, count: count})
		n, ok := byThread[s.Thread]
		if !ok || s.Thread == 0 { // a log without connections
			n = len(j.chains)
			byThread[s.Thread] = n
			j.chains = append(j.chains, nil)
		}
		j.chains[n] = append(j.chains[n], i)
	}
	for _, chain := range j.chains {
		j.bind(chain, ran)
	}
	return j
}

// maxCandidates bounds the candidates whose probabilities are inferred. Among more of
// them nothing is likely.
const maxCandidates = 64

// candidates lists the requests within which a statement can have run, and counts them.
func (j *join) candidates(s *Statement, longest int64) (out []candidate, count int) {
	from, to, took := s.From.UnixNano(), s.To.UnixNano(), int64(s.Took)
	last, _ := slices.BinarySearchFunc(j.requests, to-took+1, func(r joinRequest, at int64) int { return cmp.Compare(r.start, at) })
	for i := last - 1; i >= 0 && j.requests[i].start >= from-took-longest-int64(slack); i-- {
		r := &j.requests[i]
		lo, hi := max(from, r.start+took), min(to, r.end+int64(slack))
		if lo > hi {
			continue
		}
		if count++; count > maxCandidates {
			out = nil
			continue
		}
		length := max(r.end-r.start, 1)
		mass := float64(max(hi-lo, int64(leastOverlap))) / float64(max(length-took, int64(leastOverlap)))
		middle := float64(lo/2+hi/2-took/2-r.start) / float64(length)
		out = append(out, candidate{request: i, place: min(max(int(middle*places), 0), places-1), mass: min(mass, 1)})
	}
	slices.Reverse(out)
	return out, count
}

// bind finds the transactions of a connection. A connection serves one request for
// the time of a transaction, so that only requests that can have sent all its
// statements remain.
func (j *join) bind(chain []int, ran []Statement) {
	begin := -1
	end := func(to int) {
		if begin >= 0 && to-begin > 1 {
			j.intersect(chain[begin:to])
		}
		begin = -1
	}
	for k, i := range chain {
		switch word := firstWord(ran[i].Text); {
		case ran[i].Thread == 0:
		case word == "begin" || word == "start":
			end(k)
			begin = k
		case begin >= 0 && (word == "commit" || word == "rollback"):
			end(k + 1)
		}
	}
	end(len(chain)) // a transaction that is cut off
}

func (j *join) intersect(chain []int) {
	chain = slices.DeleteFunc(slices.Clone(chain), func(i int) bool { return j.statements[i].candidates == nil })
	count := map[int]int{}
	for _, i := range chain {
		for _, c := range j.statements[i].candidates {
			count[c.request]++
		}
	}
	some := false
	for _, n := range count {
		some = some || n == len(chain)
	}
	if !some { // times that contradict each other
		return
	}
	for k, i := range chain {
		s := &j.statements[i]
		s.candidates = slices.DeleteFunc(s.candidates, func(c candidate) bool { return count[c.request] < len(chain) })
		s.count = len(s.candidates)
		s.together, s.bound = true, k > 0
	}
}

// infer sets the probability of each candidate.
func (j *join) infer() {
	j.pairs, j.links = map[[2]int]float64{}, map[[2]int]float64{}
	for i := range j.statements {
		j.weigh(&j.statements[i])
	}
	for _, chain := range j.chains {
		j.pass(chain)
	}
}

// weigh sets the weights of the candidates without their neighbours.
func (j *join) weigh(s *joinStatement) {
	sum := 0.0
	for k := range s.candidates {
		c := &s.candidates[k]
		step := j.requests[c.request].step
		c.weight = c.mass
		if step >= 0 && s.digest >= 0 { // else it was not learned
			c.weight *= j.model.rate[s.digest][step] * j.model.place[s.digest][step][c.place]
		}
		sum += c.weight
	}
	for k := range s.candidates {
		if sum > 0 {
			s.candidates[k].weight /= sum
		} else {
			s.candidates[k].weight = 1 / float64(len(s.candidates))
		}
	}
}

// pass infers the statements of one connection by the forward-backward algorithm.
// Two neighbours are of one request with the probability that the model has for
// their digests, and else independent of each other.
func (j *join) pass(chain []int) {
	n := len(chain)
	forward, backward := make([][]float64, n), make([][]float64, n)
	for k, i := range chain {
		s := &j.statements[i]
		forward[k], backward[k] = make([]float64, len(s.candidates)), make([]float64, len(s.candidates))
		for x, c := range s.candidates {
			forward[k][x], backward[k][x] = c.weight, 1
		}
		if k > 0 {
			odds := j.odds(chain[k-1], i)
			before := &j.statements[chain[k-1]]
			eachShared(before.candidates, s.candidates, func(a, b int) { forward[k][b] *= 1 + odds*forward[k-1][a] })
		}
		normalize(forward[k])
	}
	for k := n - 2; k >= 0; k-- {
		s, after := &j.statements[chain[k]], &j.statements[chain[k+1]]
		sum := 0.0
		for x, c := range after.candidates {
			sum += c.weight * backward[k+1][x]
		}
		odds := j.odds(chain[k], chain[k+1])
		for x := range backward[k] {
			backward[k][x] = sum
		}
		linked, shared := 0.0, false
		eachShared(s.candidates, after.candidates, func(a, b int) {
			joint := odds * after.candidates[b].weight * backward[k+1][b]
			backward[k][a] += joint
			linked += forward[k][a] * joint
			shared = true
		})
		if shared && sum+linked > 0 { // neighbours that cannot be of one request show nothing
			pair := [2]int{s.digest, after.digest}
			j.pairs[pair]++
			j.links[pair] += linked / (sum + linked)
		}
		normalize(backward[k])
	}
	for k, i := range chain {
		s := &j.statements[i]
		sum := 0.0
		for x := range s.candidates {
			s.candidates[x].p = forward[k][x] * backward[k][x]
			sum += s.candidates[x].p
		}
		for x := range s.candidates {
			s.candidates[x].p /= max(sum, 1e-300)
		}
	}
}

// odds are those of two neighbours on a connection for being of one request, with
// the number of candidates as the odds against chance.
func (j *join) odds(a, b int) float64 {
	x, y := &j.statements[a], &j.statements[b]
	if y.bound {
		return certainOdds
	}
	p, ok := j.model.linked[[2]int{x.digest, y.digest}]
	if !ok {
		p = 0.5
	}
	return p / (1 - p) * float64(max(len(x.candidates), len(y.candidates), 1))
}

// indexOf is the number of a name, -1 for one that the model does not have.
func indexOf(numbers map[string]int, name string) int {
	if n, ok := numbers[name]; ok {
		return n
	}
	return -1
}

// eachShared calls use for each request that is in both lists.
func eachShared(a, b []candidate, use func(a, b int)) {
	for x, y := 0, 0; x < len(a) && y < len(b); {
		switch {
		case a[x].request < b[y].request:
			x++
		case a[x].request > b[y].request:
			y++
		default:
			use(x, y)
			x, y = x+1, y+1
		}
	}
}

func normalize(values []float64) {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	for i := range values {
		if sum > 0 {
			values[i] /= sum
		} else {
			values[i] = 1 / float64(len(values))
		}
	}
}
