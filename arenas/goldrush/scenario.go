package goldrush

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/arenas/goldrush/mine"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A contest is one run of the benchmarker: the checks of the server, then a game for each
// world, which a client plays.
type contest struct {
	here    arena.Here
	control *control
	command string // of the client; "" for the sample
	worlds  string
	full    bool    // check every row of the API
	find    float64 // findTicks
}

var (
	_ scenario.Preparer = (*contest)(nil)
	_ scenario.Loader   = (*contest)(nil)
)

// newScenario returns the benchmarker.
func newScenario(o arena.Options) (scenario.Scenario, error) {
	if o.Here == nil {
		return nil, errors.New("the benchmarker begins the games itself: it needs the server of a stack on this machine, not a URL")
	}
	if err := checkWorlds(o.Set[worldsSetting]); err != nil {
		return nil, err
	}
	ct := &contest{here: o.Here, control: newControl(o.Here.Places().Service(serverName).Socket), command: o.Set[clientSetting],
		worlds: o.Set[worldsSetting], full: o.NoLoad}
	if o.NoLoad {
		return scenario.ChecksOnly(ct), nil
	}
	ct.find = findTicks(columnShare(mine.Normal))
	return ct, nil
}

// The score: the coins of a run as a share of the bound of its worlds.
const eventShare scenario.Event = 0

// scorePerBound is the score of a client that reaches the bound.
const scorePerBound = 100_000

var table = scenario.Table{Events: []scenario.EventRule{{Name: "100,000ths of the bound", Points: 1}}, FailAtZero: true}

// Info describes the benchmarker.
func (ct *contest) Info() scenario.Info {
	return scenario.Info{Name: "goldrush", Steps: stepNames, Table: table, Load: contestTime, Timeout: 10 * time.Second}
}

// Prepare checks the server: a few golden values, or with --no-load every row of its API.
func (ct *contest) Prepare(ctx context.Context, s scenario.Session) error {
	if err := ct.control.begin(ctx, goldenGame); err != nil {
		return err
	}
	s.Phase(scenario.Prepare)
	if ct.full {
		return ct.conform(ctx, s)
	}
	if _, err := ct.program(); err != nil {
		return scenario.Wrong(nil, "client-command", "%v", err)
	}
	return newChecker(ct, s).golden(ctx)
}

// Times of a game in a load.
const (
	mostAllowance = time.Second            // for the begin of a game, and the end of its client
	watchEvery    = 100 * time.Millisecond // how often the report is read
	endGrace      = 500 * time.Millisecond // for a client to end after the bell
)

// Load plays the games one after the other. Each gets the same part of the load.
func (ct *contest) Load(ctx context.Context, s scenario.Session) error {
	seeds := worldsOf(ct.worlds, s.Seed(), s.LoadTime())
	s.Gauge("offered work (digest)", "", digest(seeds))
	part := s.LoadTime() / time.Duration(len(seeds))
	began := time.Now()
	total := totals{}
	for i, seed := range seeds {
		m := &match{contest: ct, session: s, seed: seed, length: part - min(mostAllowance, part/10), share: 1 / float64(len(seeds)),
			until: began.Add(part * time.Duration(i+1))}
		err := m.play(ctx)
		total.add(m)
		if err != nil || ctx.Err() != nil {
			total.gauges(s)
			return err
		}
	}
	total.gauges(s)
	return nil
}

// digest is a number of the worlds of a run.
func digest(seeds []int64) float64 {
	sum := uint32(2166136261)
	for _, seed := range seeds {
		for i := range 8 {
			sum = (sum ^ uint32(byte(seed>>(8*i)))) * 16777619
		}
	}
	return float64(sum)
}

// program is the command of the client.
func (ct *contest) program() (arena.Program, error) {
	p, err := ct.here.Program(clientName)
	if err != nil || ct.command == "" {
		return p, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return p, fmt.Errorf("finding the folder of the client: %w", err)
	}
	// The command is the user's own, from the command line: it runs as the user.
	return arena.Program{Path: "/bin/sh", Args: []string{"-c", ct.command}, Dir: dir, Env: os.Environ(), UID: os.Getuid(), GID: os.Getgid()}, nil
}

// gameEnv are the environment variables of a client: ADDRESS and PORT of the game's server, as
// in the contest, and GAME_SECONDS, the length of the game. The contest's clients were written
// for a game of ten minutes; here a game may be shorter.
func gameEnv(site string, length time.Duration) ([]string, error) {
	u, err := url.Parse(site)
	if err != nil {
		return nil, fmt.Errorf("reading the server's address: %w", err)
	}
	host, port, err := net.SplitHostPort(u.Host)
	if err != nil {
		return nil, fmt.Errorf("reading the server's address: %w", err)
	}
	return []string{"ADDRESS=" + host, "PORT=" + port, fmt.Sprintf("GAME_SECONDS=%.3f", length.Seconds())}, nil
}

// openLog opens the log of the client's output.
func (ct *contest) openLog() (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(ct.here.Places().Logs, "client.log"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the client's log: %w", err)
	}
	return f, nil
}

// wrong is a failed check of the client.
func wrong(check, format string, args ...any) error {
	return &scenario.Fault{Kind: iikanji.FaultCheck, Step: -1, Check: check, Message: strings.TrimSpace(fmt.Sprintf(format, args...))}
}
