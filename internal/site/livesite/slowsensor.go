package livesite

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// slowFileVariable is the variable with the file of the slow log.
const slowFileVariable = "slow_query_log_file"

// slowSensor plans the settings with which a database logs every statement of
// later connections; nil if it does so already. A slow log that is on stays in its
// file, so that nothing of the site's own logging is lost; a slow log that is off
// is written to a file of iikanji's.
func (s *Subject) slowSensor(ctx context.Context, r *running) (*Sensor, error) {
	db := s.site.Services[r.Name].DB()
	if db == nil {
		return nil, nil
	}
	now, err := slowVariables(ctx, db)
	if err != nil {
		return nil, err
	}
	own := filepath.Join(now["datadir"], now[slowFileVariable])
	if filepath.IsAbs(now[slowFileVariable]) {
		own = now[slowFileVariable]
	}
	on, toFile := now["slow_query_log"] == "ON", strings.Contains(now["log_output"], "FILE")
	var want [][2]string
	set := func(name, value string) {
		if is, known := now[name]; known && is != value {
			want = append(want, [2]string{name, value})
		}
	}
	log := own
	if !on || !toFile {
		log = filepath.Join(filepath.Dir(own), "iikanji-"+r.Name+"-slow.log")
		set(slowFileVariable, log)
	}
	set("long_query_time", "0.000000")
	set("min_examined_row_limit", "0")
	set("log_slow_rate_limit", "1")
	if now["log_slow_verbosity"] == "" {
		set("log_slow_verbosity", "query_plan")
	}
	set("log_slow_extra", "ON")
	if !toFile {
		if strings.Contains(now["log_output"], "TABLE") {
			set("log_output", "FILE,TABLE")
		} else {
			set("log_output", "FILE")
		}
	}
	set("slow_query_log", "ON")
	if len(want) == 0 || len(want) == 1 && want[0][0] == "log_slow_verbosity" {
		return nil, nil
	}
	c := &iikanji.Change{Kind: SensorKind, Target: r.Name, Says: "log every statement of later connections, for the observation", Risk: iikanji.RiskNone}
	setGlobals(c, now, want)
	return &Sensor{Service: r.Name, Change: c, Log: log, Database: true}, nil
}

// setGlobals adds ops that set global variables, and ops that set them back.
func setGlobals(c *iikanji.Change, now map[string]string, want [][2]string) {
	ground := ""
	for _, w := range want {
		name, is, then := w[0], now[w[0]], w[1]
		place := change.VariablePlace(c.Target, name)
		before, after := change.FingerprintOf([]byte(is+"\n")), change.FingerprintOf([]byte(then+"\n"))
		c.Do = append(c.Do, iikanji.Op{Verb: iikanji.SQL, Place: place, Body: change.SetGlobal(name, then), Expect: before})
		c.Undo = slices.Insert(c.Undo, 0, iikanji.Op{Verb: iikanji.SQL, Place: place, Body: change.SetGlobal(name, is), Expect: after})
		ground += string(before)
	}
	c.Ground = change.FingerprintOf([]byte(ground))
}

// slowVariables reads the variables of the slow log that the server has, in the
// server's spelling.
func slowVariables(ctx context.Context, db *sql.DB) (map[string]string, error) {
	rows, err := db.QueryContext(ctx, "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('datadir', 'slow_query_log', 'slow_query_log_file', 'long_query_time', "+
		"'min_examined_row_limit', 'log_slow_rate_limit', 'log_slow_verbosity', 'log_slow_extra', 'log_output')")
	if err != nil {
		return nil, fmt.Errorf("reading how the slow log is written: %w", err)
	}
	defer rows.Close()
	out := map[string]string{}
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return nil, fmt.Errorf("reading how the slow log is written: %w", err)
		}
		out[name] = value
	}
	return out, rows.Err()
}

// slowFileOf is the file that an op of a sensor makes the server write to.
func slowFileOf(op iikanji.Op) (string, bool) {
	if op.Verb != iikanji.SQL || !strings.HasSuffix(op.Place, "/@@"+slowFileVariable) {
		return "", false
	}
	path, ok := strings.CutPrefix(op.Body, "SET GLOBAL "+slowFileVariable+" = '")
	path = strings.ReplaceAll(strings.TrimSuffix(path, "'"), "''", "'")
	return path, ok && filepath.IsAbs(path) && filepath.Clean(path) == path && strings.HasPrefix(filepath.Base(path), "iikanji-")
}
