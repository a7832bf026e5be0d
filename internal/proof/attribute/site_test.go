package attribute_test

import (
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"
)

// A simulated site draws requests and runs their statements over a pool of
// connections. It writes the logs that a web server and MariaDB would write, and
// knows which route sent each statement.

// A step is a statement of a route's requests, repeated times ± half of them.
type step struct {
	table string
	times float64
	took  time.Duration // mean
}

type route struct {
	path  string
	rate  float64 // requests per second
	think time.Duration
	steps []step
}

type site struct {
	routes      []route
	connections int
	seconds     int
	timed       bool          // the access log has request times
	look        time.Duration // between two looks at the logs' lengths; 0 for none
	stalls      float64       // share of the time in which other programs stop everything
	swing       float64       // relative amplitude of the rates
	seed        uint64
}

// What a site wrote, and the truth.
type written struct {
	access, slow strings.Builder
	looks        []look
	truth        map[string]map[string]time.Duration // by table and route
	sent         map[string]map[string]int
	requests     map[string]int
}

type look struct{ at, access, slow int64 }

var began = time.Unix(1_790_000_000, 0).UTC()

// An event of the simulation is a request that continues, ends a statement, or
// begins.
type event struct {
	at  time.Duration
	seq int
	do  func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].seq < e[j].seq
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	x := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return x
}

type simulation struct {
	site
	*rand.Rand
	now     time.Duration
	seq     int
	queue   events
	free    []int // connections
	waiting []func(connection int)
	out     written
}

func (s *simulation) after(d time.Duration, do func()) {
	s.seq++
	heap.Push(&s.queue, event{s.now + d, s.seq, do})
}

// simulate runs the site.
func (s site) simulate() *written {
	m := &simulation{site: s, Rand: rand.New(rand.NewPCG(s.seed, 77))}
	m.out.truth, m.out.sent, m.out.requests = map[string]map[string]time.Duration{}, map[string]map[string]int{}, map[string]int{}
	m.out.slow.WriteString("/usr/sbin/mariadbd, Version: 10.11.0-MariaDB (Debian). started with:\nTcp port: 0  Unix socket: /run/db.sock\nTime\t\t    Id Command\tArgument\n")
	for c := range s.connections {
		m.free = append(m.free, c)
	}
	for i := range s.routes {
		m.arrive(&m.routes[i], m.Float64()*6)
	}
	if s.look > 0 {
		m.lookAgain()
	}
	if s.stalls > 0 {
		m.after(time.Second, m.stall)
	}
	for len(m.queue) > 0 {
		e := heap.Pop(&m.queue).(event)
		if e.at > time.Duration(s.seconds)*time.Second {
			break
		}
		m.now = max(m.now, e.at)
		e.do()
	}
	return &m.out
}

// arrive begins requests of a route at a rate that rises and falls.
func (s *simulation) arrive(r *route, phase float64) {
	rate := r.rate * (1 + s.swing*math.Sin(phase+s.now.Seconds()*(0.7+phase/9)))
	s.after(time.Duration(s.ExpFloat64()/rate*1e9), func() {
		s.arrive(r, phase)
		s.request(r)
	})
}

func (s *simulation) request(r *route) {
	start := s.now
	var todo []step
	for _, st := range r.steps {
		for range int(st.times*(0.5+s.Float64()) + 0.5) {
			todo = append(todo, st)
		}
		if st.times == 1 && len(todo) == 0 {
			todo = append(todo, st)
		}
	}
	var next func()
	next = func() {
		if len(todo) == 0 {
			s.end(r, start)
			return
		}
		st := todo[0]
		todo = todo[1:]
		s.statement(r, st, func() { s.after(time.Duration(s.ExpFloat64()*float64(r.think)), next) })
	}
	s.after(time.Duration(s.ExpFloat64()*float64(r.think)), next)
}

func (s *simulation) statement(r *route, st step, done func()) {
	run := func(connection int) {
		took := time.Duration((0.3 + s.ExpFloat64()) * float64(st.took))
		s.after(took, func() {
			s.log(r, st, connection, took)
			s.free = append(s.free, connection)
			if len(s.waiting) > 0 {
				w := s.waiting[0]
				s.waiting = s.waiting[1:]
				s.take(w)
			}
			done()
		})
	}
	if len(s.free) == 0 {
		s.waiting = append(s.waiting, run)
		return
	}
	s.take(run)
}

func (s *simulation) take(run func(int)) {
	c := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	run(c)
}

func (s *simulation) log(r *route, st step, connection int, took time.Duration) {
	if s.out.truth[st.table] == nil {
		s.out.truth[st.table], s.out.sent[st.table] = map[string]time.Duration{}, map[string]int{}
	}
	s.out.truth[st.table]["GET "+r.path] += took
	s.out.sent[st.table]["GET "+r.path]++
	at := began.Add(s.now)
	fmt.Fprintf(&s.out.slow, "# Time: %s\n# User@Host: app[app] @ localhost []\n# Thread_id: %d  Schema: shop  QC_hit: No\n# Query_time: %.6f  Lock_time: 0.000010  Rows_sent: 1  Rows_examined: 1\nSET timestamp=%d;\nSELECT * FROM %s WHERE id = %d;\n",
		at.Format("060102 15:04:05"), 100+connection, took.Seconds(), at.Add(-took).Unix(), st.table, s.Uint32())
}

func (s *simulation) end(r *route, start time.Duration) {
	s.out.requests["GET "+r.path]++
	fmt.Fprintf(&s.out.access, `10.0.0.1 - - [%s] "GET %s HTTP/1.1" 200 %d "-" "-"`, began.Add(s.now).Format("02/Jan/2006:15:04:05 -0700"), r.path, 500+s.IntN(500))
	if s.timed {
		fmt.Fprintf(&s.out.access, " %.3f", (s.now - start).Seconds())
	}
	s.out.access.WriteString("\n")
}

// lookAgain notes the lengths of the logs. Other programs delay some looks.
func (s *simulation) lookAgain() {
	at := began.Add(s.now).UnixNano()
	s.out.looks = append(s.out.looks, look{at, int64(s.out.access.Len()), int64(s.out.slow.Len())})
	wait := s.look
	if s.IntN(20) == 0 {
		wait *= time.Duration(1 + s.IntN(10))
	}
	s.after(wait, s.lookAgain)
}

// stall delays everything that is under way: another program has the cores.
func (s *simulation) stall() {
	long := time.Duration(s.ExpFloat64() * 0.1 * 1e9)
	for i := range s.queue {
		s.queue[i].at += long
	}
	s.after(time.Duration(float64(long)/s.stalls), s.stall)
}
