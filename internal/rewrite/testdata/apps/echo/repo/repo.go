// Package repo reads readings from the database.
package repo

import (
	"context"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
)

// pageSize is the number of readings on a page.
const pageSize = 4

// A Reading is a row of reading.
type Reading struct {
	ID     int64     `db:"id" json:"id"`
	Sensor int64     `db:"sensor_id" json:"sensor"`
	At     time.Time `db:"at" json:"at"`
	State  string    `db:"state" json:"state"`
	Value  int       `db:"value" json:"value"`
}

// A Point is the sum of one hour.
type Point struct {
	Start int64 `json:"start"`
	Sum   int   `json:"sum"`
}

// A Repo is the database.
type Repo struct{ db *sqlx.DB }

// New returns a repository.
func New(db *sqlx.DB) *Repo { return &Repo{db} }

type hour struct {
	start time.Time
	sum   int
}

// hours sums the readings of a sensor by hour.
//
// Fires: APP213
func (r *Repo) hours(ctx context.Context, sensor int64) ([]hour, error) {
	var rows []Reading
	if err := r.db.SelectContext(ctx, &rows, "SELECT * FROM reading WHERE sensor_id = ? ORDER BY at, id", sensor); err != nil {
		return nil, err
	}
	var out []hour
	for _, row := range rows {
		start := row.At.Truncate(time.Hour)
		if len(out) == 0 || !out[len(out)-1].start.Equal(start) {
			out = append(out, hour{start: start})
		}
		out[len(out)-1].sum += row.Value
	}
	return out, nil
}

// Day answers the hours of the day that begins with an hour.
func (r *Repo) Day(ctx context.Context, sensor, seconds int64) ([]Point, error) {
	first := time.Unix(seconds, 0).UTC().Truncate(time.Hour)
	all, err := r.hours(ctx, sensor)
	if err != nil {
		return nil, err
	}
	points := []Point{}
	for at := first; at.Before(first.Add(24 * time.Hour)); at = at.Add(time.Hour) {
		p := Point{Start: at.Unix()}
		for i := range all {
			if all[i].start.Equal(at) {
				p.Sum = all[i].sum
			}
		}
		points = append(points, p)
	}
	return points, nil
}

func level(state string) string {
	switch strings.Count(state, "!") {
	case 0:
		return "info"
	case 1:
		return "warning"
	}
	return "critical"
}

// Page answers the newest readings of some levels.
//
// Fires: APP213
func (r *Repo) Page(ctx context.Context, sensor int64, levels map[string]bool) ([]Reading, error) {
	var rows []Reading
	err := r.db.SelectContext(ctx, &rows, "SELECT * FROM reading WHERE sensor_id = ? ORDER BY at DESC, id DESC", sensor)
	if err != nil {
		return nil, err
	}
	page := []Reading{}
	for _, row := range rows {
		if levels[level(row.State)] {
			page = append(page, row)
		}
	}
	if len(page) > pageSize {
		page = page[:pageSize]
	}
	return page, nil
}

// Since answers the readings from a time on.
//
// Fires: APP213
func (r *Repo) Since(ctx context.Context, text string) ([]Reading, error) {
	since, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return []Reading{}, nil
	}
	rows, err := r.db.QueryxContext(ctx, "SELECT * FROM reading ORDER BY at, id")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := []Reading{}
	for rows.Next() {
		var row Reading
		if err := rows.StructScan(&row); err != nil {
			return nil, err
		}
		if row.At.Before(since) {
			continue
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

// Newest answers the newest state of a sensor.
//
// Fires: APP201
func (r *Repo) Newest(ctx context.Context, sensor int64) (string, error) {
	var states []string
	if err := r.db.SelectContext(ctx, &states, "SELECT state FROM reading WHERE sensor_id = ? ORDER BY at DESC, id DESC", sensor); err != nil {
		return "", err
	}
	if len(states) == 0 {
		return "none", nil
	}
	return states[0], nil
}

// Names answers the states of a sensor, each once. A state is compared with the
// one before it.
//
// Lookalike: APP213
func (r *Repo) Names(ctx context.Context, sensor int64) ([]string, error) {
	var states []string
	if err := r.db.SelectContext(ctx, &states, "SELECT state FROM reading WHERE sensor_id = ? ORDER BY state", sensor); err != nil {
		return nil, err
	}
	out, last := []string{}, ""
	for _, s := range states {
		if s == last {
			continue
		}
		last = s
		out = append(out, s)
	}
	return out, nil
}

// Total answers the number of readings.
//
// Fires: APP210
func (r *Repo) Total(ctx context.Context) (int, error) {
	tx, err := r.db.BeginTxx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	var n int
	if err := tx.GetContext(ctx, &n, "SELECT COUNT(*) FROM reading"); err != nil {
		return 0, err
	}
	return n, tx.Commit()
}

type slot struct {
	start time.Time
	sum   int
}

// slots sums every hour of a sensor.
//
// Lookalike: APP213
func (r *Repo) slots(ctx context.Context, sensor int64) ([]slot, error) {
	var rows []Reading
	if err := r.db.SelectContext(ctx, &rows, "SELECT * FROM reading WHERE sensor_id = ? ORDER BY at, id", sensor); err != nil {
		return nil, err
	}
	var out []slot
	for _, row := range rows {
		out = append(out, slot{start: row.At.Truncate(time.Hour), sum: row.Value})
	}
	return out, nil
}

// Whole answers every slot.
func (r *Repo) Whole(ctx context.Context, sensor int64) ([]Point, error) {
	all, err := r.slots(ctx, sensor)
	if err != nil {
		return nil, err
	}
	points := []Point{}
	for _, s := range all {
		points = append(points, Point{s.start.Unix(), s.sum})
	}
	return points, nil
}

// A sensorRow is a row of sensor.
type sensorRow struct {
	ID   int64  `db:"id"`
	Name string `db:"name"`
}

// Labels answers the names of the sensors of the newest readings.
func (r *Repo) Labels(ctx context.Context) ([]string, error) {
	var rows []Reading
	if err := r.db.SelectContext(ctx, &rows, "SELECT * FROM reading ORDER BY at DESC, id DESC LIMIT 6"); err != nil {
		return nil, err
	}
	return r.labels(ctx, rows)
}

// labels reads one sensor for each reading.
//
// Fires: APP205
func (r *Repo) labels(ctx context.Context, rows []Reading) ([]string, error) {
	names := []string{}
	for _, row := range rows {
		var s sensorRow
		if err := r.db.GetContext(ctx, &s, "SELECT id, name FROM sensor WHERE id = ?", row.Sensor); err != nil {
			return nil, err
		}
		names = append(names, s.Name)
	}
	return names, nil
}
