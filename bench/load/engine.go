package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime/pprof"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// fetch is the scenario of the comparison: closed-loop actors fetch one file and
// compare its bytes.
type fetch struct {
	path    string
	want    []byte
	actors  int
	browser bool // with cookies, gzip and the cache, as in arenas
	streams int  // actors that share a browser over HTTP/2; 0 for HTTP/1.1
}

const (
	stepGet  scenario.Step  = 0
	eventGot scenario.Event = 0
)

func (f *fetch) Info() scenario.Info {
	return scenario.Info{Name: "fetch", Steps: []string{"get"}, Timeout: time.Second,
		Table: scenario.Table{Events: []scenario.EventRule{{Name: "got", Points: 1}}, PerError: 1}}
}

func (f *fetch) Load(ctx context.Context, s scenario.Session) error {
	for range f.actors {
		o := scenario.ClientOptions{UserAgent: "iikanji", MaxConns: 1, Gzip: f.browser, Cache: f.browser, InsecureTLS: true}
		if f.streams > 0 {
			o.Protocol = scenario.HTTP2
		}
		c := s.NewClient(o)
		if f.browser {
			c.SetCookie("session", "0123456789abcdef0123456789abcdef")
		}
		for range max(f.streams, 1) {
			s.Go("browser", func(ctx context.Context) { f.loop(ctx, s, c) })
		}
	}
	return nil
}

func (f *fetch) loop(ctx context.Context, s scenario.Session, c scenario.Client) {
	req := scenario.Request{Step: stepGet, Path: f.path}
	for ctx.Err() == nil {
		res, err := c.Do(ctx, &req)
		if err != nil {
			s.Report(err)
			continue
		}
		if err := scenario.WantStatus(res, http.StatusOK); err != nil {
			s.Report(err)
		} else if !bytes.Equal(res.Body, f.want) {
			s.Report(scenario.Wrong(res, "body", "not the file's bytes"))
		}
		s.Add(eventGot, 1)
		res.Release()
	}
}

// engineMain runs package bench in a child process, so that its CPU time is
// measured like that of every other tool. It prints the run as JSON.
func engineMain(url string, load time.Duration, sc *fetch, samples, profile string) error {
	base, path, err := cutURL(url)
	if err != nil {
		return err
	}
	sc.path = path
	if sc.want == nil {
		if sc.want, err = get(url); err != nil {
			return err
		}
	}
	if profile != "" {
		f, err := os.Create(profile)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	run, err := bench.Run(context.Background(), sc, bench.Options{URL: base, Load: load, SamplesDir: samples})
	if err != nil {
		return err
	}
	if run.Outcome != iikanji.Passed && run.Outcome != iikanji.Void || len(run.Faults) > 0 {
		return fmt.Errorf("the run did not pass: %v %+v", run.Reasons, run.Faults)
	}
	return json.NewEncoder(os.Stdout).Encode(run)
}

func get(url string) ([]byte, error) {
	res, err := http.Get(url)
	if err != nil {
		return nil, fmt.Errorf("fetching the file: %w", err)
	}
	defer res.Body.Close()
	return io.ReadAll(res.Body)
}
