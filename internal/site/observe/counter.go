package observe

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A Counter reads a database's own counters right before and after the load of a
// run. The work of the database is the mechanism behind a score, and varies far
// less than the score. A Counter costs two statements a run and changes no setting.
type Counter struct {
	DB  *sql.DB
	Err error // a reading failed; Counts is nil then

	before, after map[string]float64
}

// countLimit bounds the time of one reading. The run itself reports a database that
// does not answer.
const countLimit = 5 * time.Second

// Phase is to be called by the engine at the begin and end of each phase.
func (c *Counter) Phase(p scenario.Phase, begins bool) {
	if p != scenario.Load || c.DB == nil || c.Err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), countLimit)
	defer cancel()
	now, err := globalStatus(ctx, c.DB)
	if err != nil {
		c.Err = fmt.Errorf("the work of the database is unknown: %w", err)
	} else if begins {
		c.before = now
	} else {
		c.after = now
	}
}

// counted are the counters of MariaDB and MySQL behind each count.
var counted = []struct{ name, variables string }{
	{"queries", "questions"},
	{"rows examined", "handler_read_first handler_read_key handler_read_last handler_read_next handler_read_prev handler_read_rnd handler_read_rnd_next"},
	{"rows written", "handler_write handler_update handler_delete"},
	{"log syncs", "innodb_os_log_fsyncs"},
	{"connections", "connections"},
	{"bytes from the database", "bytes_sent"},
}

// Counts are the growths of the counters during the load, for [iikanji.Run.Counts].
func (c *Counter) Counts() map[string]float64 {
	if c.before == nil || c.after == nil || c.Err != nil {
		return nil
	}
	out := map[string]float64{}
	for _, x := range counted {
		grown := 0.0
		for name := range strings.FieldsSeq(x.variables) {
			grown += c.after[name] - c.before[name]
		}
		if grown >= 0 { // a restarted server begins at 0
			out[x.name] = grown
		}
	}
	return out
}

func globalStatus(ctx context.Context, db *sql.DB) (map[string]float64, error) {
	rows, err := db.QueryContext(ctx, "SHOW GLOBAL STATUS")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]float64{}
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return nil, err
		}
		if v, err := strconv.ParseFloat(value, 64); err == nil {
			out[strings.ToLower(name)] = v
		}
	}
	return out, rows.Err()
}
