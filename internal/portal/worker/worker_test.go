package worker

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/portal/api"
)

func TestMain(m *testing.M) {
	MaybeGuard()
	if len(os.Args) > 1 && os.Args[1] == foreignRole {
		if err := foreign(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 2 && os.Args[1] == "bench" {
		if err := arenaRole(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestLines(t *testing.T) {
	r, any, err := readLines([]byte(`{"t":0.5,"score":10,"phase":"load"}
not json
{"t":2.1,"score":40}
{"end":true,"pass":true,"score":310,"raw":320,"deducted":10,"reasons":["r"],"faults":[{"kind":"check","step":"GET /","message":"m","count":2}]}
`))
	if err != nil || !any || r.Outcome != iikanji.Passed || r.Score != 310 || r.Raw != 320 || r.Deducted != 10 || len(r.Faults) != 1 || fmt.Sprint(r.Growth) != "[10 10 40]" {
		t.Errorf("%+v, %v", r, err)
	}
	if r, _, err := readLines([]byte(`{"end":true,"pass":false,"score":310}`)); err != nil || r.Outcome != iikanji.Failed || r.Score != 0 {
		t.Errorf("failed: %+v, %v", r, err)
	}
	if _, any, err := readLines([]byte(`{"t":1}`)); !any || err == nil {
		t.Error("a report without an end has a result")
	}
}

// frame is a frame of a result.
func frame(finished, passed bool, score, raw, deduction int64, reason string) []byte {
	b := protowire.AppendTag(nil, 1, protowire.VarintType)
	b = protowire.AppendVarint(b, protowire.EncodeBool(finished))
	b = protowire.AppendTag(b, 2, protowire.VarintType)
	b = protowire.AppendVarint(b, protowire.EncodeBool(passed))
	b = protowire.AppendTag(b, 3, protowire.VarintType)
	b = protowire.AppendVarint(b, uint64(score))
	parts := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(raw))
	parts = protowire.AppendVarint(protowire.AppendTag(parts, 2, protowire.VarintType), uint64(deduction))
	b = protowire.AppendBytes(protowire.AppendTag(b, 4, protowire.BytesType), parts)
	why := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), reason)
	b = protowire.AppendBytes(protowire.AppendTag(b, 5, protowire.BytesType), why)
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b...)
}

func TestFrames(t *testing.T) {
	all := append(frame(false, false, 10, 10, 0, ""), frame(true, true, 310, 320, 10, "pass")...)
	r, finished, err := readFrames(all)
	if err != nil || !finished || r.Outcome != iikanji.Passed || r.Score != 310 || r.Raw != 320 || r.Deducted != 10 || r.Reasons[0] != "pass" {
		t.Errorf("%+v, %v, %v", r, finished, err)
	}
	if _, finished, err := readFrames(all[:len(all)-3]); err == nil || finished {
		t.Error("half a frame has a result")
	}
	if _, finished, _ := readFrames(frame(false, true, 10, 10, 0, "")); finished {
		t.Error("an unfinished result is one")
	}
}

func FuzzFrames(f *testing.F) {
	f.Add(frame(true, true, 310, 320, 10, "pass"))
	f.Add([]byte{0, 3, 8, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, _, err := readFrames(b); err == nil && r.Outcome != iikanji.Passed && r.Score != 0 {
			t.Errorf("a failed run has the score %v", r.Score)
		}
	})
}

func FuzzLines(f *testing.F) {
	f.Add([]byte(`{"t":1,"score":2}` + "\n" + `{"end":true,"pass":true,"score":3}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, _, err := readLines(b); err == nil && (r.Outcome != iikanji.Passed && r.Score != 0 || len(r.Growth) > maxGrowth) {
			t.Errorf("%+v", r)
		}
	})
}

func TestClip(t *testing.T) {
	c := newClip(20)
	for i := range 100 {
		fmt.Fprintf(c, "%02d ", i)
	}
	if got := c.String(); !strings.HasPrefix(got, "00 01 02 0\n… 280 bytes") || !strings.HasSuffix(got, "\n 97 98 99 ") {
		t.Errorf("%q", got)
	}
	small := newClip(20)
	fmt.Fprint(small, "all of it")
	if small.String() != "all of it" {
		t.Error(small.String())
	}
}

func TestSpool(t *testing.T) {
	s, err := openSpool(filepath.Join(t.TempDir(), "spool"))
	if err != nil {
		t.Fatal(err)
	}
	f := api.Finish{Claimed: api.Claimed{Job: "../../etc/passwd", Epoch: 3}, Report: api.Report{Score: 5, Outcome: iikanji.Passed}}
	if err := s.put(f); err != nil {
		t.Fatal(err)
	}
	all, err := s.all()
	if err != nil || len(all) != 1 || all[0].Report.Score != 5 || all[0].Job != f.Job {
		t.Errorf("%+v, %v", all, err)
	}
	if err := s.remove(f); err != nil {
		t.Fatal(err)
	}
	if all, _ := s.all(); len(all) != 0 {
		t.Error("a removed result is still there")
	}
}

// program is this test's binary, which is a guard if it is executed as one.
func program(t *testing.T) string {
	t.Helper()
	p, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sleeper is a shell that leaves its group in a second process, writes both ids, and sleeps.
func sleeper(t *testing.T) (spec, func() []int) {
	file := filepath.Join(t.TempDir(), "pids")
	s := spec{Path: "/bin/sh", Args: []string{"-c", "setsid sh -c 'echo $$ >>" + file + "; exec sleep 100' & echo $$ >>" + file + "; sleep 100"}, Env: []string{"PATH=" + os.Getenv("PATH")},
		Dir: t.TempDir(), Silent: time.Minute, Soft: time.Minute, Hard: time.Minute}
	return s, func() (ids []int) {
		t.Helper()
		for end := time.Now().Add(2 * time.Minute); len(ids) < 2; time.Sleep(10 * time.Millisecond) {
			text, _ := os.ReadFile(file) // not there yet
			ids = nil
			for word := range strings.FieldsSeq(string(text)) {
				if id, err := strconv.Atoi(word); err == nil {
					ids = append(ids, id)
				}
			}
			if time.Now().After(end) {
				t.Fatalf("the processes did not start: %q", text)
			}
		}
		return ids
	}
}

// gone waits until processes have ended.
func gone(t *testing.T, ids []int) {
	t.Helper()
	for _, id := range ids {
		for end := time.Now().Add(2 * time.Minute); syscall.Kill(id, 0) == nil; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("process %d still runs", id)
			}
		}
	}
}

// TestGuardEnds: a guard ends the benchmarker and what left its group when it is told to, when
// the worker is silent, when it takes too long, and when the worker is gone.
func TestGuardEnds(t *testing.T) {
	tier.Slow(t)
	t.Parallel() // as its parts: they wait
	for _, c := range []struct {
		name string
		edit func(*spec)
		act  func(*held)
		want string
	}{
		{"stopped", func(*spec) {}, func(h *held) { h.stop("stopped") }, "stopped"},
		{"silent", func(s *spec) { s.Silent = 8 * time.Second }, func(*held) {}, whySilent},
		{"too long", func(s *spec) { s.Soft = 8 * time.Second }, func(*held) {}, whyTimeout},
		{"the worker ended", func(*spec) {}, func(h *held) { h.in.Close() }, whyGone},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, ids := sleeper(t)
			c.edit(&s)
			h, err := hold(program(t), nil, s, 1000)
			if err != nil {
				t.Fatal(err)
			}
			all := ids()
			c.act(h)
			if e := <-h.ended; e.why != c.want {
				t.Errorf("ended as %+v, want %q", e, c.want)
			}
			gone(t, all)
		})
	}
}

// TestGuardHolds: a benchmarker runs to its end while the worker gives signs of life; its output,
// report and status arrive.
func TestGuardHolds(t *testing.T) {
	tier.Slow(t)
	t.Parallel() // it waits
	s := spec{Path: "/bin/sh", Args: []string{"-c", "echo out; echo err >&2; sleep 8; echo '{\"end\":true}' >&3; exit 7"}, Env: []string{"PATH=" + os.Getenv("PATH")}, Dir: t.TempDir(),
		Silent: 6 * time.Second, Soft: time.Minute, Hard: time.Minute, Report: true}
	h, err := hold(program(t), nil, s, 1000)
	if err != nil {
		t.Fatal(err)
	}
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			h.alive(time.Now())
			continue
		case e := <-h.ended:
			if e.exit != 7 || e.why != "" || e.log != "out\n" || e.stderr != "err\n" || string(e.report) != "{\"end\":true}\n" {
				t.Errorf("%+v", e)
			}
		}
		return
	}
}

// TestOutput: the score of a known tool is found in its output.
func TestOutput(t *testing.T) {
	wrk := "Running 1s test @ http://127.0.0.1\n  1 threads and 1 connections\n  1234 requests in 1.00s, 1.0MB read\nRequests/sec:   1233.50\nTransfer/sec:      1.0MB\n"
	if r := fromOutput(ending{log: wrk}); r.Outcome != iikanji.Passed || r.Score != 1233.5 {
		t.Errorf("%+v", r)
	}
	if r := fromOutput(ending{exit: 1, log: wrk, stderr: "boom\n"}); r.Outcome != iikanji.Failed || !strings.Contains(strings.Join(r.Reasons, " "), "boom") {
		t.Errorf("%+v", r)
	}
	if r := fromOutput(ending{log: "nothing"}); r.Outcome != iikanji.OutcomeUnknown {
		t.Errorf("%+v", r)
	}
}

// TestProgress: the state of a command's run is its last whole line; what it reported before
// stays in its growth.
func TestProgress(t *testing.T) {
	b := &commandBench{}
	if p := b.progress([]byte("no JSON\n{\"t\":1")); p != nil {
		t.Errorf("a report without a line: %+v", p)
	}
	p := b.progress([]byte("{\"t\":1,\"score\":10}\n{\"t\":3.5,\"score\":30,\"phase\":\"lo\\u001bad\"}\n{\"t\":4,\"score\":99"))
	if p == nil || p.Score != 30 || p.At != 3500*time.Millisecond || p.Phase != "lo·ad" || !slices.Equal(p.Growth, []float64{0, 10, 10, 30}) {
		t.Errorf("the progress is %+v", p)
	}
	p = b.progress([]byte("{\"t\":5,\"score\":50}\n{\"end\":true,\"score\":70}\n"))
	if p == nil || p.Score != 50 || len(p.Growth) != 6 || p.Growth[1] != 10 {
		t.Errorf("later it is %+v", p)
	}
}
