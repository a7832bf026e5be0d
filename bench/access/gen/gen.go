// Package gen writes access logs of a busy site for benchmarks and tests: about
// 35 routes with ids, from a seed, in several formats. The same options give
// the same bytes.
package gen

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"time"
)

// A Format is a way to log.
type Format string

const (
	Combined Format = "combined" // nginx's, with $request_time behind it
	LTSV     Format = "ltsv"
	JSON     Format = "json"
)

// Formats are all of them.
var Formats = []Format{Combined, LTSV, JSON}

// Options set the format and the size of a log.
type Options struct {
	Format Format
	Lines  int
	Seed   uint64
}

// A route is a kind of request: its parts, with ids between them.
type route struct {
	method string
	path   string // %d number, %u UUID, %h hex, %s name
	weight int
	ms     float64 // median time
	bytes  int     // median size
}

var routes = []route{
	{"GET", "/", 300, 1.2, 528},
	{"GET", "/api/isu", 700, 35, 4200},
	{"GET", "/api/isu/%u", 900, 4, 310},
	{"GET", "/api/isu/%u/icon", 2400, 9, 42000},
	{"GET", "/api/isu/%u/graph?datetime=%d", 800, 80, 9800},
	{"GET", "/api/condition/%u?end_time=%d&condition_level=info%%2Cwarning", 1500, 24, 2600},
	{"POST", "/api/condition/%u", 3900, 3, 0},
	{"POST", "/api/isu", 60, 110, 280},
	{"GET", "/api/trend", 1100, 160, 31000},
	{"POST", "/api/auth", 120, 12, 0},
	{"POST", "/api/signout", 60, 2, 0},
	{"GET", "/api/user/me", 900, 1.6, 42},
	{"GET", "/isu/%u", 300, 1.1, 528},
	{"GET", "/isu/%u/condition", 250, 1.1, 528},
	{"GET", "/isu/%u/graph", 240, 1.1, 528},
	{"GET", "/register", 50, 1.1, 528},
	{"GET", "/posts", 500, 60, 22000},
	{"GET", "/posts/%d", 1100, 14, 8400},
	{"POST", "/posts/%d/comments", 210, 22, 0},
	{"GET", "/posts?max_created_at=2026-11-%d", 320, 55, 22000},
	{"GET", "/image/%d.jpg", 2600, 6, 88000},
	{"GET", "/image/%d.png", 900, 6, 120000},
	{"GET", "/users/%s", 420, 28, 12000},
	{"GET", "/users/%s/followers?page=%d", 190, 41, 7400},
	{"GET", "/@%s", 330, 33, 15000},
	{"GET", "/api/items/%d", 800, 5, 930},
	{"PUT", "/api/items/%d", 120, 17, 930},
	{"DELETE", "/api/items/%d", 40, 15, 0},
	{"GET", "/api/search?q=%s&page=%d", 480, 95, 6100},
	{"GET", "/assets/app.%h.js", 350, 0.8, 210000},
	{"GET", "/assets/vendor.%h.js", 350, 0.8, 480000},
	{"GET", "/assets/style.%h.css", 350, 0.7, 31000},
	{"GET", "/favicon.ico", 200, 0.6, 1150},
	{"GET", "/healthz", 150, 0.4, 2},
	{"GET", "/orders/%u/receipt.pdf", 90, 130, 64000},
	{"PATCH", "/api/settings", 30, 9, 210},
}

var agents = []string{
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1",
	"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15",
	"Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0",
	"Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36",
	"curl/8.9.1",
}

// A line is one request.
type line struct {
	route         *route
	at            time.Time
	addr          uint32
	uri           []byte
	status, bytes int
	ms            float64
	referer       bool
	agent         int
}

type generator struct {
	r       *rand.Rand
	pick    []uint16 // index of a route, as often as its weight
	uuids   [][]byte
	names   []string
	stamp   []byte // of the present second
	second  int64
	started time.Time
}

// Write writes a log.
func Write(w io.Writer, o Options) error {
	g := &generator{r: rand.New(rand.NewPCG(o.Seed, 0x1155)), started: time.Date(2026, 11, 19, 4, 4, 0, 0, time.UTC)}
	for i, rt := range routes {
		for range rt.weight / 10 {
			g.pick = append(g.pick, uint16(i))
		}
	}
	for range 5000 {
		g.uuids = append(g.uuids, fmt.Appendf(nil, "%08x-%04x-4%03x-a%03x-%012x", g.r.Uint32(), g.r.Uint32()>>16, g.r.Uint32()>>20, g.r.Uint32()>>20, g.r.Uint64()>>16))
	}
	for i := range 3000 {
		g.names = append(g.names, syllables(g.r)+strconv.Itoa(i%7))
	}
	bw := bufio.NewWriterSize(w, 1<<20)
	var l line
	buf := make([]byte, 0, 2048)
	for i := range o.Lines {
		g.next(&l, i)
		switch o.Format {
		case LTSV:
			buf = g.ltsv(buf[:0], &l)
		case JSON:
			buf = g.json(buf[:0], &l)
		default:
			buf = g.combined(buf[:0], &l)
		}
		if _, err := bw.Write(buf); err != nil {
			return fmt.Errorf("writing the log: %w", err)
		}
	}
	if err := bw.Flush(); err != nil {
		return fmt.Errorf("writing the log: %w", err)
	}
	return nil
}

func syllables(r *rand.Rand) string {
	const parts = "kasatanahamayarawakisichinihimirikusutsunufumuyurukesetenehemerekosotonohomoyoro"
	s := ""
	for range 2 + r.IntN(3) {
		i := 2 * r.IntN(len(parts)/2)
		s += parts[i : i+2]
	}
	return s
}

// linesPerSecond is the request rate of the site.
const linesPerSecond = 8000

func (g *generator) next(l *line, i int) {
	rt := &routes[g.pick[g.r.IntN(len(g.pick))]]
	l.route = rt
	l.at = g.started.Add(time.Duration(i) * time.Second / linesPerSecond)
	l.addr = 0x0a000000 | g.r.Uint32N(1<<12)
	l.uri = g.fill(l.uri[:0], rt.path)
	l.status = 200
	switch n := g.r.IntN(1000); {
	case n < 6:
		l.status = 404
	case n < 9:
		l.status = 500
	case n < 40 && rt.method == "GET":
		l.status = 304
	case rt.method == "POST":
		l.status = 201
	}
	l.ms = rt.ms * math.Exp(0.7*g.r.NormFloat64())
	l.bytes = 0
	if l.status != 304 && rt.bytes > 0 {
		l.bytes = max(1, int(float64(rt.bytes)*(0.7+0.6*g.r.Float64())))
	}
	l.referer = g.r.IntN(3) > 0
	l.agent = g.r.IntN(len(agents))
}

// fill replaces the verbs of a path by ids.
func (g *generator) fill(b []byte, path string) []byte {
	for i := 0; i < len(path); i++ {
		if path[i] != '%' {
			b = append(b, path[i])
			continue
		}
		i++
		switch path[i] {
		case 'd':
			b = strconv.AppendInt(b, 1+g.r.Int64N(99_999), 10)
		case 'u':
			b = append(b, g.uuids[g.r.IntN(len(g.uuids))]...)
		case 'h':
			b = fmt.Appendf(b, "%08x", uint32(g.r.IntN(4))*0x9e3779b9+0x1234567)
		case 's':
			b = append(b, g.names[g.r.IntN(len(g.names))]...)
		default:
			b = append(b, path[i])
		}
	}
	return b
}

func appendAddr(b []byte, a uint32) []byte {
	for shift := 24; shift >= 0; shift -= 8 {
		b = strconv.AppendUint(b, uint64(a>>shift&0xff), 10)
		if shift > 0 {
			b = append(b, '.')
		}
	}
	return b
}

func (g *generator) time(b []byte, l *line) []byte {
	if s := l.at.Unix(); s != g.second {
		g.second, g.stamp = s, l.at.AppendFormat(g.stamp[:0], "02/Jan/2006:15:04:05 -0700")
	}
	return append(b, g.stamp...)
}

func appendSeconds(b []byte, ms float64) []byte { return strconv.AppendFloat(b, ms/1000, 'f', 3, 64) }

func (g *generator) combined(b []byte, l *line) []byte {
	b = append(appendAddr(b, l.addr), " - - ["...)
	b = append(g.time(b, l), `] "`...)
	b = append(append(b, l.route.method...), ' ')
	b = append(append(b, l.uri...), ` HTTP/1.1" `...)
	b = append(strconv.AppendInt(b, int64(l.status), 10), ' ')
	b = append(strconv.AppendInt(b, int64(l.bytes), 10), ` "`...)
	if l.referer {
		b = append(b, "https://isu.example.com/register"...)
	} else {
		b = append(b, '-')
	}
	b = append(append(append(b, `" "`...), agents[l.agent]...), `" `...)
	return append(appendSeconds(b, l.ms), '\n')
}

func (g *generator) ltsv(b []byte, l *line) []byte {
	b = append(b, "time:"...)
	b = append(g.time(b, l), "\thost:"...)
	b = append(appendAddr(b, l.addr), "\tforwardedfor:-\treq:"...)
	b = append(append(append(append(b, l.route.method...), ' '), l.uri...), " HTTP/1.1\tstatus:"...)
	b = append(strconv.AppendInt(b, int64(l.status), 10), "\tmethod:"...)
	b = append(append(b, l.route.method...), "\turi:"...)
	b = append(append(b, l.uri...), "\tsize:"...)
	b = append(strconv.AppendInt(b, int64(l.bytes), 10), "\treferer:https://isu.example.com/register\tua:"...)
	b = append(append(b, agents[l.agent]...), "\treqtime:"...)
	b = append(appendSeconds(b, l.ms), "\tcache:-\truntime:-\tapptime:"...)
	return append(append(appendSeconds(b, l.ms), "\tvhost:isu.example.com"...), '\n')
}

func (g *generator) json(b []byte, l *line) []byte {
	b = append(b, `{"time":"`...)
	b = append(g.time(b, l), `","host":"`...)
	b = append(appendAddr(b, l.addr), `","forwardedfor":"-","status":`...)
	b = append(strconv.AppendInt(b, int64(l.status), 10), `,"method":"`...)
	b = append(append(b, l.route.method...), `","uri":"`...)
	b = append(append(b, l.uri...), `","body_bytes":`...)
	b = append(strconv.AppendInt(b, int64(l.bytes), 10), `,"referer":"https://isu.example.com/register","ua":"`...)
	b = append(append(b, agents[l.agent]...), `","response_time":`...)
	b = append(appendSeconds(b, l.ms), `,"cache":"-","upstream_response_time":"`...)
	return append(append(appendSeconds(b, l.ms), `","vhost":"isu.example.com"}`...), '\n')
}
