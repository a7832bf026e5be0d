package isucondition

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// postTimeout is how long an ISU waits for an answer. The answer is ignored.
const postTimeout = 100 * time.Millisecond

// posterAgent is the User-Agent of ISU.
const posterAgent = "JIA-Members-Client/1.2"

// A poster sends the conditions of an activated ISU.
type poster struct {
	ct   *contest
	c    *chair
	walk *walk
	cl   scenario.Client
	req  scenario.Request
	said *[16]string
}

// activate starts the posts of an ISU to a target.
func (ct *contest) activate(c *chair, target *url.URL) {
	w := newWalk(ct.s.Rand("walk "+c.uuid), newestSlot(ct.clock.now()))
	c.walk.Store(w)
	if !ct.loading.Load() {
		return // activated by the checks: the ISU has no owner under load
	}
	p := &poster{ct: ct, c: c, walk: w, said: &utterances[c.character]}
	p.cl = ct.s.NewClient(scenario.ClientOptions{BaseURL: target.Scheme + "://" + target.Host, MaxConns: 1,
		Timeout: postTimeout, UserAgent: posterAgent})
	p.req = scenario.Request{Step: stepPost, Method: http.MethodPost, Path: target.EscapedPath() + "/api/condition/" + c.uuid,
		ContentType: "application/json", Quiet: true}
	ct.world.poses(c)
	tick := ct.clock.tick()
	first := tick + time.Duration(ct.s.Rand("phase "+c.uuid).Int64N(int64(tick)))
	ct.s.Every("poster", scenario.Arrivals{First: first, Period: tick}, p.post)
}

// post sends the newest conditions since the last post. It ignores the answer, and
// errors too.
func (p *poster) post(ctx context.Context, due time.Time) {
	body, n := p.conditions(p.req.Body[:0])
	if n == 0 {
		return
	}
	p.req.Body, p.req.Due = body, due
	p.ct.posts.Add(1)
	p.ct.offered.Add(int64(n))
	if res, err := p.cl.Do(ctx, &p.req); err == nil {
		res.Release()
	}
}

// conditions advances the state to now and appends the newest conditions as JSON.
// It records them as posted before they are sent, because another answer may show
// them before the answer to the post arrives.
func (p *poster) conditions(b []byte) ([]byte, int) {
	newest := newestSlot(p.ct.clock.now())
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	n := 0
	for p.walk.slot < newest {
		ts, s := p.walk.step()
		if p.walk.slot <= newest-postBatch {
			continue
		}
		p.c.past.add(ts, s)
		b = appendCondition(b, n, p.said, ts, s)
		n++
	}
	if n > 0 {
		b = append(b, ']')
	}
	return b, n
}

// appendCondition appends the i-th element of a post.
func appendCondition(b []byte, i int, said *[16]string, ts int64, s state) []byte {
	if i == 0 {
		b = append(b, '[')
	} else {
		b = append(b, ',')
	}
	b = append(b, said[s.said()]...)
	b = strconv.AppendInt(b, ts, 10)
	return append(b, '}')
}

// utterances holds the JSON objects of everything that an ISU can post, up to the
// timestamp, by character and state.
var utterances = func() (all [Characters][16]string) {
	for c := range all {
		for s := range all[c] {
			st := state(s)
			all[c][s] = `{"is_sitting":` + strconv.FormatBool(st.sitting()) +
				`,"condition":"` + st.flags().Condition() +
				`","message":` + jsonString(Message(c, st.flags())) + `,"timestamp":`
		}
	}
	return all
}()

// jsonString quotes a text.
func jsonString(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic("BUG: a string that is not JSON: " + err.Error())
	}
	return string(b)
}
