package isucondition

import (
	"github.com/iikanji/iikanji/internal/contest/arena/kit/jsonread"
	"testing"
	"time"
)

func TestHistory(t *testing.T) {
	var h history
	start := T0.Unix()
	for i := range int64(10) {
		h.add(start-300+i*60, state(i))
	}
	for _, c := range []struct {
		ts   int64
		from int
		is   bool
	}{{start - 1e12, 0, false}, {start - 300, 0, true}, {start - 299, 1, false}, {start, 5, true}, {start + 240, 9, true}, {start + 241, 10, false}, {start + 1e12, 10, false}} {
		i, ok := h.find(c.ts)
		if h.from(c.ts) != c.from || ok != c.is || ok && i != c.from {
			t.Errorf("%d: from %d, find %d %v, want %d %v", c.ts-start, h.from(c.ts), i, ok, c.from, c.is)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a timestamp twice was taken")
		}
	}()
	h.add(start+240, 0)
}

func TestWorld(t *testing.T) {
	data := &Data{Pool: []Image{newImage([]byte("a"))}, NoImage: newImage([]byte("none")), Users: []User{{ID: "isucon1", ISUs: []ISU{
		{ID: 1, UUID: "u1", Name: "n1", Character: Labels[4], Conditions: []Condition{{Timestamp: 1628300000, Message: Message(4, Dirty), Flags: Dirty}}},
		{ID: 2, UUID: "u2", Name: "n2", Character: Labels[5]},
	}}}}
	w, err := newWorld(data)
	if err != nil {
		t.Fatal(err)
	}
	if l := w.owners[0].list(); len(l) != 2 || l[0].uuid != "u2" {
		t.Errorf("the list does not begin with the newest ISU")
	}
	if c := w.ids()[1]; c.past.len() != 1 || !c.past.known(0, -1e9) || c.past.states[0].flags() != Dirty {
		t.Error("the initial condition is not known from the start")
	}
	o, chairs := w.admit(futureUser{id: "x", isus: []futureISU{{uuid: "p1", image: 0}, {uuid: "p2", image: -1}, {uuid: "p3"}}})
	if len(w.seated()) != 1 || w.chair("p1") != chairs[0] || w.chair("none") != nil {
		t.Error("admitted ISU are known to JIA but not registered")
	}
	if chairs[1].icon.MD5 != data.NoImage.MD5 || chairs[0].icon.MD5 != data.Pool[0].MD5 {
		t.Error("wrong icons")
	}
	before := o.list()
	for i, id := range []int64{5, 9, 7} {
		w.registered(chairs[i], id)
	}
	if l := o.list(); len(before) != 0 || l[0].uuid != "p2" || l[1].uuid != "p3" || l[2].uuid != "p1" {
		t.Error("the list is not in order of ids, newest first")
	}
	if w.ids()[7] != chairs[2] || len(w.seated()) != 2 {
		t.Error("registered ISU are not found by id")
	}
	data.Users[0].ISUs[0].Conditions[0].Message = "other"
	if _, err := newWorld(data); err == nil {
		t.Error("initial data with a message of no character was taken")
	}
}

// TestPosterBody checks that a post holds the newest ten conditions, and that the
// history records the same ones.
func TestPosterBody(t *testing.T) {
	c := testChair(0)
	ct := &contest{clock: clock{origin: time.Now(), rate: 30000}}
	p := &poster{ct: ct, c: c, walk: newWalk(testWalk(1).rng, newestSlot(ct.clock.now())), said: &utterances[c.character]}
	if b, n := p.conditions(nil); n != 0 || len(b) != 0 {
		t.Errorf("%d conditions before a minute has passed: %s", n, b)
	}
	p.walk.slot -= 25
	body, n := p.conditions(nil)
	if n != postBatch || c.past.len() != postBatch {
		t.Fatalf("%d conditions of 25 slots, want the newest %d", n, postBatch)
	}
	r, i := jsonread.New(body), 0
	r.Array(func() {
		s, ts, message := state(0), int64(0), ""
		r.Object(func(name []byte) {
			switch string(name) {
			case "is_sitting":
				if r.Bool() {
					s |= sittingBit
				}
			case "condition":
				f, ok := ParseFlags(string(r.Str()))
				if !ok {
					t.Error("no condition string")
				}
				s |= state(f)
			case "message":
				message = string(r.Str())
			case "timestamp":
				ts = r.Int()
			default:
				t.Errorf("field %s", name)
			}
		})
		if i < n && (unixOf(c.past.times[i]) != ts || c.past.states[i] != s || message != Message(c.character, s.flags())) {
			t.Errorf("condition %d was posted as %d %d %q", i, ts, s, message)
		}
		i++
	})
	if r.End() != nil || i != n {
		t.Errorf("%d elements, %v", i, r.Err())
	}
	if last := unixOf(c.past.times[n-1]); last > ct.clock.now() {
		t.Errorf("a condition of the future: %d", last)
	}
}

// TestMalformed checks that no malformed post is one that the API would accept
// whole.
func TestMalformed(t *testing.T) {
	for kind := range len(malformed) + 2 {
		body, _ := malformedBody(kind, T0.Unix())
		r, good, n := jsonread.New(body), 0, 0
		r.Array(func() {
			n++
			r.Object(func(name []byte) {
				if string(name) != "condition" {
					r.Skip()
				} else if _, ok := ParseFlags(string(r.Str())); ok {
					good++
				}
			})
		})
		if r.End() == nil && n > 0 && good == n {
			t.Errorf("kind %d is well-formed: %s", kind, body)
		}
	}
}

func BenchmarkPosterBody(b *testing.B) {
	c := testChair(0)
	w := testWalk(1)
	var body []byte
	b.ReportAllocs()
	for b.Loop() {
		body = body[:0]
		for i := range 10 {
			ts, s := w.step()
			body = appendCondition(body, i, &utterances[c.character], ts, s)
		}
	}
	b.SetBytes(int64(len(body)))
}
