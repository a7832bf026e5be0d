package rpc_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/load/rpc"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// build builds the gRPC server, which is a module of its own.
var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "iikanji-rpc-")
	if err != nil {
		return "", err
	}
	for from, to := range map[string]string{"main.go": "main.go", "go.mod.txt": "go.mod", "go.sum.txt": "go.sum"} {
		text, err := os.ReadFile(filepath.Join("testdata", "server", from))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, to), text, 0o644)
		}
		if err != nil {
			return dir, err
		}
	}
	cmd := exec.Command("go", "build", "-mod=readonly", "-o", "server", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return dir, errors.New(string(out))
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	status := m.Run()
	if dir, _ := build(); dir != "" {
		os.RemoveAll(dir)
	}
	os.Exit(status)
}

// server starts the gRPC server and returns its URL.
func server(t *testing.T) string {
	t.Helper()
	dir, err := build()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(dir, "server"))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + strings.TrimSpace(address)
}

// A checks is a scenario of checks without load.
type checks func(ctx context.Context, s scenario.Session) error

func (checks) Info() scenario.Info {
	return scenario.Info{Name: "rpc", Steps: []string{"call", "turn"}, Timeout: time.Minute}
}

func (f checks) Prepare(ctx context.Context, s scenario.Session) error { return f(ctx, s) }

// within runs f as a scenario and returns its run.
func within(t *testing.T, url string, f func(ctx context.Context, s scenario.Session, cl scenario.Client)) *iikanji.Run {
	t.Helper()
	run, err := bench.Run(context.Background(), checks(func(ctx context.Context, s scenario.Session) error {
		f(ctx, s, s.NewClient(scenario.ClientOptions{Protocol: scenario.HTTP2}))
		return nil
	}), bench.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

var text = wrapperspb.String

// TestUnary calls a real server: messages, every status, trailers, metadata, deadlines.
func TestUnary(t *testing.T) {
	tier.Slow(t)
	url := server(t)
	run := within(t, url, func(ctx context.Context, s scenario.Session, cl scenario.Client) {
		call := &rpc.Call{Method: "/test.Echo/Say", Metadata: []scenario.Field{{Name: "x-own", Value: "mine"}}}
		out := text("")
		do := func(ask string) rpc.Reply {
			t.Helper()
			r, err := rpc.Do(ctx, cl, call, text(ask), out)
			if err != nil {
				t.Fatalf("%q: %v", ask, err)
			}
			return r
		}
		large := strings.Repeat("large ", 100_000)
		for ask, want := range map[string]string{"hello": "hello", "": "", large: large, "metadata": "mine", "deadline": "false false"} {
			r := do(ask)
			if r.Code != rpc.OK || out.Value != want || rpc.WantCode(&r, rpc.OK) != nil {
				t.Errorf("%.20q: %v %q, answer %.40q", ask, r.Code, r.Message, out.Value)
			}
			trail, _ := r.Trailer("x-trail")
			packed, ok := r.Trailer("x-trail-bin")
			if r.Header("x-head") != "head" || string(trail) != "trail" || string(packed) != "\x00\xff" || !ok {
				t.Errorf("header %q, trailers %q %q", r.Header("x-head"), trail, packed)
			}
			r.Release()
		}
		for code := rpc.Canceled; code <= rpc.Unauthenticated+1; code++ {
			message := "100 % \"ü\" 改善\n"
			r := do("code " + itoa(int(code)) + " " + message)
			if err := wantStatus(&r, code, message); err != nil {
				t.Error(err)
			}
			if rpc.WantCode(&r, rpc.OK) == nil {
				t.Errorf("%v was taken for OK", code)
			}
			r.Release()
		}
		r, err := rpc.Do(ctx, cl, &rpc.Call{Method: "/test.Echo/Nothing"}, text(""), out)
		if err != nil || r.Code != rpc.Unimplemented || r.FromHTTP {
			t.Errorf("a method that is not there: %v %v", err, r.Code)
		}
		r.Release()
		call.Timeout = time.Minute
		if r := do("deadline"); out.Value != "true true" {
			t.Errorf("the server saw the deadline as %q, %v", out.Value, r.Code)
		}
		call.Timeout = 100 * time.Millisecond
		r, err = rpc.Do(ctx, cl, call, text("wait"), out)
		if scenario.KindOf(err) != iikanji.FaultTimeout && r.Code != rpc.DeadlineExceeded {
			t.Errorf("after the deadline: %v %v", err, r.Code)
		}
		if _, err := rpc.Do(ctx, cl, &rpc.Call{Method: "/test.Echo/Say"}, text("\xff"), out); scenario.KindOf(err) != iikanji.FaultCheck {
			t.Errorf("a message that cannot be encoded: %v", err)
		}
	})
	if run.Outcome != iikanji.Passed {
		t.Errorf("%v %v", run.Outcome, run.Reasons)
	}
}

func itoa(n int) string { return string(rune('0'+n/10)) + string(rune('0'+n%10)) }

// TestStream exchanges messages with a real server in both directions.
func TestStream(t *testing.T) {
	tier.Slow(t)
	run := within(t, server(t), func(ctx context.Context, s scenario.Session, cl scenario.Client) {
		open := func() *rpc.Stream {
			t.Helper()
			st, err := rpc.Open(ctx, cl, &rpc.Call{Method: "/test.Echo/Talk", Timeout: scenario.NoTimeout})
			if err != nil {
				t.Fatal(err)
			}
			return st
		}
		st, out := open(), text("")
		for _, say := range []string{"first", "second", strings.Repeat("large ", 50_000), ""} {
			if err := st.Exchange(rpc.Turn{Step: 1}, text(say), out); err != nil || out.Value != say {
				t.Fatalf("%v, %.40q came back as %.40q", err, say, out.Value)
			}
		}
		r, err := st.Finish()
		trail, _ := r.Trailer("x-trail")
		if err != nil || r.Code != rpc.OK || string(trail) != "talked" {
			t.Errorf("the end: %v %v %q", err, r.Code, trail)
		}
		st.Close()

		st = open()
		err = st.Exchange(rpc.Turn{Step: 1}, text("code 9 not now"), out)
		if scenario.KindOf(err) != iikanji.FaultClosed {
			t.Errorf("a status instead of an answer: %v", err)
		}
		if r, err = st.Finish(); err != nil || wantStatus(&r, rpc.FailedPrecondition, "not now") != nil {
			t.Errorf("%v %v %q", err, r.Code, r.Message)
		}
		st.Close()

		st = open()
		if err := st.Send(text("one")); err != nil {
			t.Fatal(err)
		}
		if err := st.CloseSend(); err != nil {
			t.Fatal(err)
		}
		if err := st.Recv(out); err != nil || out.Value != "one" {
			t.Errorf("%v %q", err, out.Value)
		}
		if err := st.Recv(out); err != io.EOF {
			t.Errorf("after the last message: %v", err)
		}
		st.Close()
		open().Close() // cancelled
	})
	// Five turns of which one failed, and four streams.
	if call, turn := run.Steps[0], run.Steps[1]; call.Count != 4 || call.Errors != 0 || turn.Count != 5 || turn.Errors != 1 {
		t.Errorf("%+v", run.Steps)
	}
}

// TestUnavailable: nobody listens, and a server that is no gRPC.
func TestUnavailable(t *testing.T) {
	within(t, "http://127.0.0.1:1", func(ctx context.Context, s scenario.Session, cl scenario.Client) {
		if _, err := rpc.Do(ctx, cl, &rpc.Call{Method: "/test.Echo/Say"}, text(""), text("")); scenario.KindOf(err) != iikanji.FaultDial {
			t.Errorf("%v", err)
		}
	})
}

// wantStatus checks the status of a reply and its message.
func wantStatus(r *rpc.Reply, code rpc.Code, message string) error {
	if err := rpc.WantCode(r, code); err != nil {
		return err
	}
	if r.Message != message {
		return fmt.Errorf("message %q, want %q", r.Message, message)
	}
	return nil
}
