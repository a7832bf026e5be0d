package goldrush

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/iikanji/iikanji/arenas/goldrush/mine"
	"github.com/iikanji/iikanji/internal/contest/arena"
)

// Times of the contest.
const (
	contestTime  = 10 * time.Minute
	startTimeout = 2 * time.Minute
)

// serveGames is the service of the stack: a game for manual work until a benchmarker begins
// others through the socket.
func serveGames(ctx context.Context, p arena.Places) error {
	at := p.Service(serverName)
	c := mine.NewController(at.Address, func(line string) { fmt.Println(line) })
	if err := c.Begin(ctx, mine.Config{Seed: time.Now().UnixNano(), Size: mine.Normal, Duration: contestTime}); err != nil {
		return err
	}
	return c.Serve(ctx, at.Socket)
}

// serverCommand is the server alone, as the contest started it.
var serverCommand = arena.Command{
	Name: "goldrush-server",
	Help: "Serve one game of Gold Rush, as in the contest.",
	Detail: `Makes the world of a seed, serves it until the bell, 10 minutes after the first
request, and writes the score into result.json. Each setting is also read from the
environment, under its name in capitals: SEED, DURATION, START_TIMEOUT, DIFFICULTY,
ADDR, RESULT_DIR, WORK_DIR, ACCESS_LOG.

With --work-dir, the game is saved each second, and a server that is started again
in that folder goes on with it.`,
	Settings: []arena.Setting{
		{Name: "addr", Help: "Address to listen on.", Kind: arena.Address, Default: "127.0.0.1:8000"},
		{Name: "seed", Help: "Seed of the world; 0 is the time.", Default: "0"},
		{Name: "difficulty", Help: "normal, or test: a world of 5 × 5 cells.", Default: "normal"},
		{Name: "duration", Help: "Time from the first request to the bell.", Default: "10m"},
		{Name: "start-timeout", Help: "Time within which the first request must come.", Default: "2m"},
		{Name: "result-dir", Help: "Folder for result.json.", Kind: arena.File, Default: "none: the result is only printed"},
		{Name: "work-dir", Help: "Folder in which the game is saved each second.", Kind: arena.File, Default: "none"},
		{Name: "access-log", Help: "true: a line for each request.", Default: "false"},
	},
	Run: serveContest,
}

// setting is the value of a setting, or of its variable in the environment, or the default.
func setting(set arena.Values, name, or string) string {
	if v := set[name]; v != "" {
		return v
	}
	variable := []byte(name)
	for i, c := range variable {
		if c == '-' {
			variable[i] = '_'
		} else {
			variable[i] = c - 'a' + 'A'
		}
	}
	if v := os.Getenv(string(variable)); v != "" {
		return v
	}
	return or
}

// configOf reads the settings of the command.
func configOf(set arena.Values, say func(string)) (c mine.Config, err error) {
	if c.Seed, err = strconv.ParseInt(setting(set, "seed", "0"), 10, 64); err != nil {
		return c, fmt.Errorf("setting seed: %w", err)
	}
	if c.Seed == 0 {
		c.Seed = time.Now().UnixNano()
	}
	if c.Duration, err = time.ParseDuration(setting(set, "duration", contestTime.String())); err != nil {
		return c, fmt.Errorf("setting duration: %w", err)
	}
	if c.StartTimeout, err = time.ParseDuration(setting(set, "start-timeout", startTimeout.String())); err != nil {
		return c, fmt.Errorf("setting start-timeout: %w", err)
	}
	switch d := setting(set, "difficulty", "normal"); d {
	case "normal":
		c.Size = mine.Normal
	case "test":
		c.Size = mine.Small
	default:
		return c, fmt.Errorf("setting difficulty: %.40q is not normal or test", d)
	}
	if dir := setting(set, "work-dir", ""); dir != "" {
		c.Save = filepath.Join(dir, "game.save")
		if seed, ok := savedSeed(c.Save); ok && set["seed"] == "" {
			c.Seed = seed
		}
	}
	if setting(set, "access-log", "false") == "true" {
		c.Log = func(method, path string, status int) { say(fmt.Sprintf("%s %q %d", method, path, status)) }
	}
	return c, nil
}

// savedSeed is the seed of a saved game.
func savedSeed(file string) (int64, bool) {
	f, err := os.Open(file)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadBytes('\n')
	var head struct{ Seed int64 }
	return head.Seed, err == nil && json.Unmarshal(line, &head) == nil
}

// serveContest serves one game.
func serveContest(ctx context.Context, set arena.Values, say func(line string)) error {
	config, err := configOf(set, say)
	if err != nil {
		return err
	}
	g, err := mine.NewGame(config)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", setting(set, "addr", "127.0.0.1:8000"))
	if err != nil {
		return fmt.Errorf("listening for the game: %w", err)
	}
	say("serving on http://" + l.Addr().String())
	err = g.Play(ctx, l)
	result := result{Status: "OK", Score: g.Report().Balance}
	if err != nil {
		result.Status, result.Score, result.Errors = "ERR", 0, []string{err.Error()}
	}
	if ctx.Err() != nil {
		return nil // interrupted: a saved game goes on later
	}
	text, failed := json.Marshal(result)
	if failed != nil {
		return fmt.Errorf("writing the result: %w", failed)
	}
	say(string(text))
	if dir := setting(set, "result-dir", ""); dir != "" {
		if failed := os.WriteFile(filepath.Join(dir, "result.json"), append(text, '\n'), 0o644); failed != nil {
			return errors.Join(err, fmt.Errorf("writing the result: %w", failed))
		}
	}
	return err
}

// A result is the file of the score.
type result struct {
	Status string   `json:"status"`
	Score  int      `json:"score"`
	Errors []string `json:"errors,omitempty"`
}
