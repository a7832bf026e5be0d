// Package sites generates access logs of web sites whose true routes are known,
// to measure how well routes are learned. The same site gives the same bytes.
package sites

import (
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"time"
)

// A Site describes the traffic of one web site.
type Site struct {
	Name  string
	Lines int
	// Routes has one route per line: "GET /users/{user}/posts 5", with the
	// parameters in braces and a weight (default 1). Behind the weight,
	// "like=N" gives routes with the same N the same times and sizes, and "from=/a|/b"
	// has the pages with links to it; a parameter there has the value of the request's.
	// "by=app" names who calls it, one of callers.
	Routes string
	Pools  map[string]Pool // values of the parameters
	Model  Model
	Noise  float64 // share of requests by scanners, which belong to no route
	Users  string  // parameter whose value is also the authenticated user
}

// A Model sets how times and sizes depend on the route.
type Model uint8

const (
	PerRoute Model = iota // each route has its own distribution
	Same                  // all routes have one distribution
	Content               // sizes depend on the values, times on the route
	Flat                  // all requests have one size and one time
)

// callers are the user agents of kinds of callers.
var callers = map[string][]string{
	"app":     {"okhttp/4.12.0", "ShopApp/5.2 CFNetwork/1498 Darwin/23.6.0"},
	"bot":     {"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "Mozilla/5.0 (compatible; AhrefsBot/7.0)"},
	"cron":    {"curl/8.5.0", "Wget/1.21"},
	"script":  {"python-requests/2.32.3", "Go-http-client/1.1"},
	"browser": {"Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/126.0", "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Safari/605.1.15", "Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0"},
}

// A Pool is the set of values of a parameter.
type Pool struct {
	Make func(r *rand.Rand) string
	N    int  // number of different values; 0: a new value for each request
	Zipf bool // the i-th value has a weight of 1/i; otherwise equal weights
}

// A Request is one line of the log.
type Request struct {
	Method, Path string
	Status       int
	Bytes        int
	Took         time.Duration
	User         string
	Referer      string // path of the page with the link; empty for none
	Agent        string // user agent; empty for one that all share
	Route        string // the true route; empty for scanners
}

type route struct {
	name   string
	method string
	parts  []string // literal, parameter, literal, …
	weight float64
	ms     float64 // median time
	bytes  float64 // median size
	from   []string
	by     []string // user agents
}

// hash01 maps a text to [0, 1).
func hash01(texts ...string) float64 {
	h := fnv.New64a()
	for _, t := range texts {
		io.WriteString(h, t)
		h.Write([]byte{0})
	}
	return float64(h.Sum64()>>11) / (1 << 53)
}

func (s *Site) parse() (all []route) {
	for line := range strings.Lines(s.Routes) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		r := route{name: f[0] + " " + f[1], method: f[0], weight: 1}
		seed := r.name
		for _, opt := range f[2:] {
			if like, ok := strings.CutPrefix(opt, "like="); ok {
				seed = like
			} else if from, ok := strings.CutPrefix(opt, "from="); ok {
				r.from = strings.Split(from, "|")
			} else if by, ok := strings.CutPrefix(opt, "by="); ok {
				if r.by = callers[by]; r.by == nil {
					panic("route " + line + ": no caller " + by)
				}
			} else if _, err := fmt.Sscan(opt, &r.weight); err != nil {
				panic("route " + line + ": " + err.Error())
			}
		}
		if s.Model == Same {
			seed = "same"
		}
		r.ms = 2 * math.Exp(4.5*hash01(s.Name, seed, "ms"))
		r.bytes = 80 * math.Exp(6*hash01(s.Name, seed, "bytes"))
		for rest := f[1]; rest != ""; {
			lit, after, ok := strings.Cut(rest, "{")
			r.parts = append(r.parts, lit)
			if !ok {
				break
			}
			name, next, _ := strings.Cut(after, "}")
			r.parts = append(r.parts, name)
			if rest = next; rest == "" {
				r.parts = append(r.parts, "")
			}
		}
		all = append(all, r)
	}
	return all
}

// values are the values of one parameter with their cumulative weights.
type values struct {
	pool Pool
	all  []string
	sums []float64
}

func (v *values) pick(r *rand.Rand) string {
	if v.pool.N == 0 {
		return v.pool.Make(r)
	}
	x := r.Float64() * v.sums[len(v.sums)-1]
	lo, hi := 0, len(v.sums)-1
	for lo < hi {
		if mid := (lo + hi) / 2; v.sums[mid] > x {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return v.all[lo]
}

func (s *Site) values(r *rand.Rand, name string) *values {
	p, ok := s.Pools[name]
	if !ok {
		if p, ok = common[name]; !ok {
			panic("site " + s.Name + " has no values for " + name)
		}
	}
	v := &values{pool: p}
	seen := map[string]bool{}
	misses := 0
	for sum := 0.0; len(v.all) < p.N; {
		text := p.Make(r)
		if seen[text] {
			if misses++; misses > 1000*p.N {
				panic(fmt.Sprintf("site %s: there are only %d values of %s", s.Name, len(v.all), name))
			}
			continue
		}
		seen[text] = true
		w := 1.0
		if p.Zipf {
			w = 1 / float64(len(v.all)+1)
		}
		sum += w
		v.all, v.sums = append(v.all, text), append(v.sums, sum)
	}
	return v
}

// Requests generates the requests of the site.
func (s *Site) Requests() (all []Request) {
	h := fnv.New64a()
	io.WriteString(h, s.Name)
	r := rand.New(rand.NewPCG(h.Sum64(), 1))
	routes := s.parse()
	pools := map[string]*values{}
	var total float64
	for _, t := range routes {
		total += t.weight
		for i := 1; i < len(t.parts); i += 2 {
			if name := t.parts[i]; pools[name] == nil {
				pools[name] = s.values(r, name)
			}
		}
	}
	for range s.Lines {
		if r.Float64() < s.Noise {
			all = append(all, scan(r))
			continue
		}
		x := r.Float64() * total
		k := 0
		for ; k < len(routes)-1 && x >= routes[k].weight; k++ {
			x -= routes[k].weight
		}
		all = append(all, s.request(r, &routes[k], pools))
	}
	return all
}

func (s *Site) request(r *rand.Rand, t *route, pools map[string]*values) Request {
	q := Request{Method: t.method, Route: t.name, Status: 200}
	if len(t.from) > 0 {
		q.Referer = t.from[r.IntN(len(t.from))]
	}
	if len(t.by) > 0 {
		q.Agent = t.by[r.IntN(len(t.by))]
	}
	var b strings.Builder
	for i, part := range t.parts {
		if i%2 == 0 {
			b.WriteString(part)
			continue
		}
		v := pools[part].pick(r)
		if part == s.Users {
			q.User = v
		}
		b.WriteString(v)
		q.Referer = strings.ReplaceAll(q.Referer, "{"+part+"}", v)
	}
	q.Path = b.String()
	switch x := r.Float64(); {
	case x < 0.003:
		q.Status = 500
	case x < 0.01 && len(t.parts) > 1:
		q.Status = 404
	case t.method == "POST" && hash01(t.name) < 0.5:
		q.Status = 201
	case t.method == "DELETE":
		q.Status = 204
	case x < 0.05 && t.method == "GET":
		q.Status = 304
	}
	q.Took = time.Duration(t.ms * math.Exp(0.5*r.NormFloat64()) * 1e6).Round(time.Millisecond)
	size := t.bytes * math.Exp(0.3*r.NormFloat64())
	if s.Model == Content {
		size = 2000 * math.Exp(3*hash01(s.Name, q.Path))
	}
	if s.Model == Flat {
		size, q.Took = 10, time.Millisecond
	}
	switch q.Status {
	case 304, 204:
		size = 0
	case 404, 500:
		size = 150
	}
	q.Bytes = int(size)
	return q
}

// scan is a request for something that no site has.
func scan(r *rand.Rand) Request {
	paths := []string{"/wp-login.php", "/.env", "/.git/config", "/phpmyadmin/index.php", "/admin.php", "/backup.zip", "/cgi-bin/test", "/vendor/phpunit/src/Util/PHP/eval-stdin.php"}
	p := paths[r.IntN(len(paths))]
	if r.IntN(2) == 0 {
		p = "/" + letters(r, "abcdefghijklmnopqrstuvwxyz", 5+r.IntN(6)) + []string{"", ".php", ".aspx"}[r.IntN(3)]
	}
	return Request{Method: "GET", Path: p, Status: 404, Bytes: 150, Took: time.Millisecond}
}

// Write writes the requests as a combined log with the time behind it.
func Write(w io.Writer, all []Request) error {
	at := time.Date(2026, 11, 19, 4, 4, 5, 0, time.UTC)
	for i, q := range all {
		user := q.User
		if user == "" {
			user = "-"
		}
		from, agent := "-", q.Agent
		if agent == "" {
			agent = "Mozilla/5.0"
		}
		if q.Referer != "" {
			from = "https://www.example.com" + q.Referer
		}
		if i%20 == 19 {
			at = at.Add(time.Second)
		}
		if _, err := fmt.Fprintf(w, "10.0.0.%d - %s [%s] \"%s %s HTTP/1.1\" %d %d \"%s\" \"%s\" %.3f\n", i%250, user,
			at.Format("02/Jan/2006:15:04:05 -0700"), q.Method, q.Path, q.Status, q.Bytes, from, agent, q.Took.Seconds()); err != nil {
			return err
		}
	}
	return nil
}
