package bench

import (
	"bytes"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"sync"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A RecordedRequest is one request without a body that a run's client sent.
type RecordedRequest struct {
	Step   string      // name of the scenario's step
	Path   string      // path and query
	Header [][2]string // name and value, also of cookies and other credentials
}

// A RequestSample keeps GET requests of the load phase: of each step a fixed number,
// drawn at random. It stays in memory, because the headers are credentials of the
// run's clients.
type RequestSample struct {
	perStep int
	limit   int // bytes of one request's head

	mu   sync.Mutex
	rng  *rand.Rand
	kept map[int][]RecordedRequest // by step
	seen map[int]int
}

// maxRecorded is the largest head of a request that is kept, in bytes.
const maxRecorded = 8 << 10

// NewRequestSample returns an empty sample of up to perStep requests of each step.
// The seed determines which of the requests are drawn, given their order.
func NewRequestSample(seed uint64, perStep int) *RequestSample {
	h := fnv.New64a()
	_, _ = h.Write([]byte("recorded requests")) // a hash never returns an error
	return &RequestSample{perStep: perStep, limit: maxRecorded, rng: rand.New(rand.NewPCG(seed, h.Sum64())),
		kept: map[int][]RecordedRequest{}, seen: map[int]int{}}
}

// add offers a request of a step to the sample. A nil sample keeps none.
func (s *RequestSample) add(step int, name, method string, req []byte) {
	if s == nil || method != http.MethodGet || len(req) > s.limit {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[step]++
	kept := s.kept[step]
	at := len(kept)
	if at == s.perStep {
		if at = s.rng.IntN(s.seen[step]); at >= s.perStep {
			return
		}
	}
	r, ok := recorded(name, req)
	switch {
	case !ok:
	case at == len(kept):
		s.kept[step] = append(kept, r)
	default:
		kept[at] = r
	}
}

// record offers a request of the load phase to the run's sample. Requests of clients
// of another host than the target's are left out.
func (c *client) record(k *call, req []byte) {
	if c.home {
		c.s.sample(k.r.Step, k.method, req)
	}
}

// sample offers a request to the run's sample if the load phase runs.
func (s *session) sample(step scenario.Step, method string, req []byte) {
	if s.o.Requests != nil && s.phaseNumber() == numLoad {
		s.o.Requests.add(int(step), s.info.Steps[step], method, req)
	}
}

// recorded reads the head of a request that a client of this package wrote.
func recorded(step string, req []byte) (r RecordedRequest, ok bool) {
	head, _, _ := bytes.Cut(req, []byte("\r\n\r\n"))
	lines := strings.Split(string(head), "\r\n")
	words := strings.Split(lines[0], " ")
	if len(words) != 3 {
		return r, false
	}
	r = RecordedRequest{Step: step, Path: words[1]}
	for _, line := range lines[1:] {
		name, value, ok := strings.Cut(line, ": ")
		lower := strings.ToLower(name)
		if ok && (lower == "host" || !slices.Contains(framing, lower)) { // a site may have several virtual hosts
			r.Header = append(r.Header, [2]string{textproto.CanonicalMIMEHeaderKey(name), value})
		}
	}
	return r, true
}

// Requests returns what was kept, step by step.
func (s *RequestSample) Requests() []RecordedRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	var steps []int
	for step := range s.kept {
		steps = append(steps, step)
	}
	slices.Sort(steps)
	var out []RecordedRequest
	for _, step := range steps {
		out = append(out, s.kept[step]...)
	}
	return out
}
