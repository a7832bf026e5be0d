package goldrush

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/arenas/goldrush/mine"
	"github.com/iikanji/iikanji/internal/contest/arena"
)

// contestOf runs the command of the server, and calls at with its URL once it serves.
func contestOf(t *testing.T, set arena.Values, at func(url string)) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	dir := t.TempDir()
	set["addr"], set["result-dir"], set["difficulty"] = "127.0.0.1:0", dir, "test"
	var lines []string
	err := serveContest(ctx, set, func(line string) {
		lines = append(lines, line)
		if url, ok := strings.CutPrefix(line, "serving on "); ok && at != nil {
			go at(url)
		}
	})
	text, _ := os.ReadFile(filepath.Join(dir, "result.json"))
	if n := len(lines); n == 0 || lines[n-1]+"\n" != string(text) {
		t.Errorf("the result is not printed: %q, %q", lines, text)
	}
	return string(text), err
}

func TestContest(t *testing.T) {
	text, err := contestOf(t, arena.Values{"seed": "3", "duration": "200ms"}, func(url string) {
		if res, err := http.Get(url + "/balance"); err == nil { // begins the game
			res.Body.Close()
		}
	})
	if err != nil || text != `{"status":"OK","score":0}`+"\n" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestContestNotStarted(t *testing.T) {
	text, err := contestOf(t, arena.Values{"start-timeout": "50ms"}, nil)
	var r result
	if jsonErr := json.Unmarshal([]byte(text), &r); !errors.Is(err, mine.ErrNotStarted) || jsonErr != nil || r.Status != "ERR" || len(r.Errors) != 1 {
		t.Errorf("%q, %v", text, err)
	}
}

func TestServerSettings(t *testing.T) {
	t.Setenv("SEED", "12")
	t.Setenv("START_TIMEOUT", "3s")
	c, err := configOf(arena.Values{"duration": "1m"}, nil)
	if err != nil || c.Seed != 12 || c.StartTimeout != 3*time.Second || c.Duration != time.Minute || c.Size != mine.Normal || c.Save != "" || c.Log != nil {
		t.Errorf("%+v, %v", c, err)
	}
	for name, value := range map[string]string{"seed": "x", "duration": "1", "start-timeout": "soon", "difficulty": "hard"} {
		if _, err := configOf(arena.Values{name: value}, nil); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "game.save"), []byte("{\"seed\":77}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := configOf(arena.Values{"work-dir": dir}, nil); err != nil || c.Seed != 77 {
		t.Errorf("the seed of a saved game: %+v, %v", c, err)
	}
}
