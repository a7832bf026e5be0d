package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/logs/slowlog"
	"github.com/iikanji/iikanji/internal/logs/tally"
	"github.com/iikanji/iikanji/internal/show/timeline"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// A lab measures one load.
type lab struct {
	server   *factstest.Server
	clients  int
	load     time.Duration
	requests int
	pool     int
	look     time.Duration
}

// maxRequests bounds the requests of a load: their numbers have 16 bits.
const maxRequests = 65_000

// measure loads the app, joins its slow log with the samples and compares.
func (l *lab) measure(ctx context.Context) (*score, error) {
	db, err := l.server.Open(ctx, fmt.Sprintf("shop%d", l.clients))
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxIdleConns(0) // a connection has the global settings of its beginning
	for _, q := range schema {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return nil, fmt.Errorf("making the app's tables: %w", err)
		}
	}
	dir, err := os.MkdirTemp("", "ikj-join")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	h, err := history.Open(filepath.Join(dir, "history"))
	if err != nil {
		return nil, err
	}
	defer h.Close()
	id, folder, err := h.NewRun()
	if err != nil {
		return nil, err
	}
	log := filepath.Join(dir, "slow.log")
	if err := os.Chmod(dir, 0o777); err != nil { // the server may be another user
		return nil, err
	}
	settings := []string{"slow_query_log_file = '" + log + "'", "long_query_time = 0", "log_slow_verbosity = ''", "slow_query_log = 1"}
	for _, s := range settings {
		if _, err := db.ExecContext(ctx, "SET GLOBAL "+s); err != nil {
			return nil, fmt.Errorf("turning the slow log on: %w", err)
		}
	}
	db.SetMaxOpenConns(l.pool)
	db.SetMaxIdleConns(l.pool)
	web := httptest.NewServer(&app{db})
	defer web.Close()
	var growth lines.Growth
	watched := watch(log, l.look, &growth)
	from := time.Now()
	_, err = bench.Run(ctx, &browsers{clients: l.clients, load: l.load}, bench.Options{URL: web.URL, Seed: 1, Load: l.load, SamplesDir: folder})
	watched()
	if _, off := db.ExecContext(ctx, "SET GLOBAL slow_query_log = 0"); err == nil {
		err = off
	}
	if err != nil {
		return nil, err
	}
	kept, truth, err := keep(h, id, log, &growth)
	if err != nil {
		return nil, err
	}
	window := &tally.Window{From: from, Step: 50 * time.Millisecond, N: int(time.Since(from)/(50*time.Millisecond)) + 1, Written: growth.Written}
	profile, err := slowlog.Read(ctx, []*lines.Input{lines.Bytes("slow.log", kept)}, slowlog.Options{Ticks: window})
	if err != nil {
		return nil, err
	}
	profile.Source = iikanji.Slow
	return l.compare(ctx, h, id, []iikanji.Profile{*profile}, truth)
}

// watch notes the length of the log until stop is called.
func watch(path string, every time.Duration, growth *lines.Growth) (stop func()) {
	look := func() {
		asked := time.Now()
		if info, err := os.Stat(path); err == nil {
			growth.Note(info.Size(), asked.UnixNano(), time.Now().UnixNano())
		}
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			look()
			select {
			case <-quit:
				look()
				return
			case <-tick.C:
			}
		}
	}()
	return func() { close(quit); <-done }
}

var (
	label = regexp.MustCompile(`/\*(\d{5})\*/`)
	entry = regexp.MustCompile(`(?m)^# User@Host`)
)

// A truth is which request sent each entry of a log, by the place of its "# User@Host".
type truth struct {
	entries []int
	request map[int]int // by entry
}

// of is the request of the entry that begins at offset, perhaps with a line before its
// "# User@Host".
func (t *truth) of(offset int64) (request int, ok bool) {
	i, _ := slices.BinarySearch(t.entries, int(offset))
	if i == len(t.entries) {
		return 0, false
	}
	request, ok = t.request[t.entries[i]]
	return request, ok
}

// keep saves the slow log without its labels, and how it grew.
func keep(h *history.History, id iikanji.RunID, path string, growth *lines.Growth) (kept []byte, t *truth, err error) {
	if kept, err = os.ReadFile(path); err != nil {
		return nil, nil, err
	}
	t = &truth{request: map[int]int{}}
	for _, at := range entry.FindAllIndex(kept, -1) {
		t.entries = append(t.entries, at[0])
	}
	for _, at := range label.FindAllSubmatchIndex(kept, -1) {
		i, _ := slices.BinarySearch(t.entries, at[0])
		if i == 0 {
			continue
		}
		if t.request[t.entries[i-1]], err = strconv.Atoi(string(kept[at[2]:at[3]])); err != nil {
			return nil, nil, err
		}
		copy(kept[at[0]:at[1]], bytes.Repeat([]byte(" "), labelled))
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(kept); err != nil {
		return nil, nil, err
	}
	if err := z.Close(); err != nil {
		return nil, nil, err
	}
	points, err := json.Marshal(growth.Points())
	if err != nil {
		return nil, nil, err
	}
	if err := h.SaveFile(id, "slow.log.gz", packed.Bytes()); err != nil {
		return nil, nil, err
	}
	return kept, t, h.SaveFile(id, "slow-growth.json", points)
}

// compare reads the timelines of some requests, evenly spread over the load.
func (l *lab) compare(ctx context.Context, h *history.History, id iikanji.RunID, profiles []iikanji.Profile, truth *truth) (*score, error) {
	raw, err := timeline.ReadRaw(ctx, h, id)
	if err != nil {
		return nil, err
	}
	numbers := raw.Numbers()
	own := map[int]int{} // statements of each request
	for _, request := range truth.request {
		own[request]++
	}
	model, err := timeline.Learn(ctx, h, id, profiles)
	if err != nil {
		return nil, err
	}
	s := &score{shown: map[timeline.Certainty]int{}, right: map[timeline.Certainty]int{}, perSecond: float64(len(numbers)) / l.load.Seconds()}
	// The first and last ones are left out: their surroundings are not complete.
	first, last := len(numbers)/10, len(numbers)*9/10
	for i := range l.requests {
		t, err := raw.Of(numbers[first+i*(last-first)/l.requests], model)
		if err != nil {
			return nil, err
		}
		s.take(t, truth, own)
	}
	return s, nil
}

// take counts one timeline.
func (s *score) take(t *timeline.Timeline, truth *truth, own map[int]int) {
	request := t.Request.Client - 1<<31
	s.own += own[request]
	s.timelines++
	s.inFlight += t.InFlight
	for _, x := range t.Statements {
		sender, ok := truth.of(x.Offset)
		if !ok {
			continue // not a statement of the app, such as that of a connection's begin
		}
		hit := sender == request
		s.shown[x.Certainty]++
		if hit {
			s.right[x.Certainty]++
		}
		if hit && x.Certainty != timeline.Possible {
			s.found++
		}
		if x.Certainty != timeline.Certain {
			c := s.cell(&x)
			c.shown++
			if hit {
				c.right++
			}
		}
	}
}

// browsers are the scenario: each of them sends a request, waits and goes on.
type browsers struct {
	clients int
	load    time.Duration
	sent    atomic.Int64
}

// Info implements scenario.Scenario.
func (b *browsers) Info() scenario.Info {
	info := scenario.Info{Name: "join", Load: b.load, Timeout: 10 * time.Second}
	for _, r := range routes {
		info.Steps = append(info.Steps, "GET "+r.path)
	}
	return info
}

// think is the mean time between two requests of a browser.
const think = 15 * time.Millisecond

// Load implements scenario.Loader.
func (b *browsers) Load(_ context.Context, s scenario.Session) error {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: b.clients}}
	var bag []int
	for step, r := range routes {
		for range r.share {
			bag = append(bag, step)
		}
	}
	for n := range b.clients {
		random := s.Rand(fmt.Sprintf("browser %d", n))
		s.Go("browser", func(ctx context.Context) {
			for {
				select {
				case <-ctx.Done():
					return
				case <-time.After(time.Duration(random.ExpFloat64() * float64(think))):
				}
				number := b.sent.Add(1)
				if number > maxRequests {
					return
				}
				b.get(ctx, s, client, bag[random.IntN(len(bag))], int(number))
			}
		})
	}
	return nil
}

// get sends one request and records it under its number.
func (b *browsers) get(ctx context.Context, s scenario.Session, client *http.Client, step, number int) {
	x := &scenario.Exchange{Step: scenario.Step(step), Client: uint16(number), Method: "GET", Start: time.Now()}
	req, err := http.NewRequestWithContext(ctx, "GET", s.URL()+routes[step].path, nil)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	req.Header.Set("X-Request", strconv.Itoa(number))
	res, err := client.Do(req)
	if err == nil {
		x.Status = res.StatusCode
		x.Received, err = io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
	x.End = time.Now()
	switch {
	case ctx.Err() != nil:
		x.Fault = iikanji.FaultCut
	case err != nil:
		x.Fault = iikanji.FaultClosed
	case x.Status != http.StatusOK:
		x.Fault = iikanji.FaultStatus
	}
	s.Record(x)
}
