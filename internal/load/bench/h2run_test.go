package bench

import (
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// TestH2Run runs a whole scenario over HTTP/2: its end cuts reads in flight, lets a
// write be answered, and everything is counted as with HTTP/1.1.
func TestH2Run(t *testing.T) {
	var written atomic.Int64
	loadOver := make(chan struct{})
	end := sync.OnceFunc(func() { close(loadOver) })
	site := goServer(t, true, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hang":
			<-r.Context().Done()
			end()
		case "/write":
			<-loadOver
			time.Sleep(50 * time.Millisecond)
			written.Add(1)
		}
		io.WriteString(w, "0123456789")
	})
	sc := &script{load: func(ctx context.Context, s scenario.Session) error {
		b := s.NewClient(scenario.ClientOptions{})
		for _, path := range []string{"/hang", "/write"} {
			s.Go(path, func(ctx context.Context) {
				method := "GET"
				if path == "/write" {
					method = "POST"
				}
				_, err := b.Do(ctx, &scenario.Request{Method: method, Path: path})
				if scenario.KindOf(err) != iikanji.FaultCut {
					t.Errorf("%s: %v, want a cut", path, err)
				}
			})
		}
		s.Go("actor", func(ctx context.Context) {
			for ctx.Err() == nil {
				res, err := b.Do(ctx, &scenario.Request{Step: 1, Path: "/"})
				if err == nil {
					s.Add(got, 1)
				}
				s.Report(err)
				res.Release()
			}
		})
		return nil
	}}
	run, err := Run(context.Background(), sc, Options{URL: site.url, CA: site.ca, Load: 3 * time.Second, SamplesDir: t.TempDir(), KeepHeads: true, Requests: NewRequestSample(1, 3)})
	if err != nil {
		t.Fatal(err)
	}
	quick := run.Steps[1]
	if len(run.Faults) > 0 || run.Steps[0].Cut != 2 || quick.Count == 0 || quick.Errors > 0 || written.Load() != 1 {
		t.Errorf("faults %v, steps %+v, %d written", run.Faults, run.Steps, written.Load())
	}
	if per := int64(quick.Received) / quick.Count; per < 10+2*9 || per > 200 {
		t.Errorf("%d bytes received per answer", per)
	}
	if run.Load.PeakConns != 1 {
		t.Errorf("%d connections, want 1", run.Load.PeakConns)
	}
}

// TestH2Streams: pieces in both directions, a turn that counts, an answer that ends
// early, a reset, and the end of the phase.
func TestH2Streams(t *testing.T) {
	both(t, func(t *testing.T, secure bool) {
		site := goServer(t, secure, func(w http.ResponseWriter, r *http.Request) {
			http.NewResponseController(w).EnableFullDuplex()
			switch r.URL.Path {
			case "/reset":
				panic(http.ErrAbortHandler)
			case "/early":
				w.WriteHeader(http.StatusForbidden)
				return
			}
			w.Header().Set("Trailer", "x-end")
			w.WriteHeader(http.StatusOK)
			http.NewResponseController(w).Flush()
			buf := make([]byte, 1<<16)
			for {
				n, err := r.Body.Read(buf)
				w.Write(buf[:n])
				http.NewResponseController(w).Flush()
				if err != nil {
					break
				}
			}
			w.Header().Set("x-end", "yes")
		})
		b, ctx := browseH2(t, site.url, scenario.ClientOptions{CA: site.ca})
		st, err := b.Open(ctx, &scenario.Request{Method: "POST", Path: "/"})
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		for _, size := range []int{1, 1000, 10 << 20} { // the last is larger than all windows
			done := make(chan error, 1)
			go func() { done <- st.Send(make([]byte, size), false) }()
			buf, left := make([]byte, 5000), size
			for left > 0 {
				n, err := st.Read(buf)
				if err != nil {
					t.Fatal(err)
				}
				left -= n
			}
			if err := <-done; err != nil || left != 0 {
				t.Fatalf("%v, %d bytes too many", err, -left)
			}
		}
		now := time.Now()
		st.Count(&scenario.Turn{Step: 1, Start: now, End: now.Add(time.Millisecond), Sent: 5, Received: 7})
		if err := st.Send(nil, true); err != nil {
			t.Fatal(err)
		}
		res, err := st.End()
		if err != nil {
			t.Fatal(err)
		}
		if end, _ := res.Trailer("x-end"); res.Status != 200 || string(end) != "yes" {
			t.Errorf("%+v", res)
		}
		if _, err := st.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("after the end: %v", err)
		}
		st.Close()
		sum := takeTallies(b.s.shards, 2)
		if sum[0].count != 1 || sum[1].count != 1 || sum[1].sent != 5 || sum[0].sent < 10<<20 {
			t.Errorf("counted %+v", sum)
		}

		early, err := b.Open(ctx, &scenario.Request{Method: "POST", Path: "/early"})
		if err != nil {
			t.Fatal(err)
		}
		defer early.Close()
		if head, err := early.Head(); err != nil || head.Status != http.StatusForbidden {
			t.Errorf("%v %+v", err, head)
		}
		if err := early.Send(make([]byte, 1<<20), true); err != nil {
			t.Errorf("sending after the answer: %v", err)
		}
		gone, err := b.Open(ctx, &scenario.Request{Method: "POST", Path: "/reset"})
		if err != nil {
			t.Fatal(err)
		}
		defer gone.Close()
		if _, err := gone.Head(); scenario.KindOf(err) != iikanji.FaultClosed {
			t.Errorf("a reset stream: %v", err)
		}
		brief, err := b.Open(ctx, &scenario.Request{Method: "POST", Path: "/", Timeout: 200 * time.Millisecond})
		if err == nil { // on a busy machine its time may be over at once
			defer brief.Close()
			brief.Head()
			_, err = brief.Read(make([]byte, 1))
		}
		if scenario.KindOf(err) != iikanji.FaultTimeout {
			t.Errorf("a stream whose time is over: %v", err)
		}
		cut, err := b.Open(ctx, &scenario.Request{Method: "POST", Path: "/", Timeout: scenario.NoTimeout})
		if err != nil {
			t.Fatal(err)
		}
		defer cut.Close()
		time.AfterFunc(50*time.Millisecond, func() { b.s.closePhase(b.s.current()) })
		if _, err := cut.Read(make([]byte, 1)); scenario.KindOf(err) != iikanji.FaultCut {
			t.Errorf("a stream at the end of the phase: %v", err)
		}
	})
	plain, ctx := browse(t, web(t, echo), scenario.ClientOptions{})
	if _, err := plain.Open(ctx, &scenario.Request{Path: "/"}); scenario.KindOf(err) != iikanji.FaultProtocol {
		t.Errorf("a stream over HTTP/1.1: %v", err)
	}
}
