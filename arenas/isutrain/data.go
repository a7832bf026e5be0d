package isutrain

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/files"
)

const (
	// dataVersion must change whenever the generator's output changes.
	dataVersion = "1"
	dataSeed    = 2019

	publicFolder = "public"
	datasetFile  = "benchmarker.json"
	rowsEach     = 2000 // rows of an INSERT
)

// A dataSize is how many days there are from 2020-01-01 on, and how many trains on each.
// The trains of a day run from 06:00 to about 22:00 in any case of contestSize; fewer trains
// keep their distance in time and end earlier.
type dataSize struct{ Days, Trains int }

var (
	// contestSize has an eighth of the contest's timetable: a quarter of the days and half
	// of the trains.
	contestSize = dataSize{Days: 92, Trains: 96}
	// smallSize is that of tests.
	smallSize = dataSize{Days: 22, Trains: 48}
)

// version differs for data of other sizes.
func (s dataSize) version() string { return fmt.Sprintf("%s-%dx%d", dataVersion, s.Days, s.Trains) }

// Generate writes stations, trains and timetable as SQL into webapp, and what the
// benchmarker needs to draw them again into data. With an empty webapp it writes only the
// latter. The output is the same every time.
func Generate(ctx context.Context, webapp, data string) error {
	return contestSize.generate(ctx, webapp, data)
}

func (s dataSize) generate(ctx context.Context, webapp, data string) error {
	if webapp != "" {
		line := s.draw()
		for name, write := range map[string]func(context.Context, io.Writer) error{
			"90_train.sql": line.writeTrains, "91_station.sql": line.writeStations, "94_timetable.sql": line.writeTimetable,
		} {
			err := files.Write(filepath.Join(webapp, "sql", name), func(w io.Writer) error { return write(ctx, w) })
			if err != nil {
				return fmt.Errorf("generating %s: %w", name, err)
			}
		}
	}
	return files.Write(filepath.Join(data, datasetFile), func(w io.Writer) error { return json.NewEncoder(w).Encode(s) })
}

// readLine draws the data of the size that is noted in the folder that Generate wrote.
func readLine(folder string) (*line, error) {
	text, err := os.ReadFile(filepath.Join(folder, datasetFile))
	if err != nil {
		return nil, fmt.Errorf("reading the size of the initial data: %w", err)
	}
	var s dataSize
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("reading the size of the initial data: %w", err)
	}
	if s.Days < leastDays || s.Days > 366 || s.Trains < 20 || s.Trains > 192 {
		return nil, fmt.Errorf("reading the size of the initial data: %d days with %d trains", s.Days, s.Trains)
	}
	return s.draw(), nil
}

// An inserter writes rows as INSERT statements of many rows.
type inserter struct {
	w     *bufio.Writer
	head  string
	count int
}

func (i *inserter) row(format string, args ...any) {
	separator := ",\n"
	if i.count%rowsEach == 0 {
		separator = i.head + "\n"
		if i.count > 0 {
			separator = ";\n" + separator
		}
	}
	i.count++
	i.w.WriteString(separator)
	fmt.Fprintf(i.w, format, args...)
}

func (i *inserter) end() error {
	i.w.WriteString(";\n")
	return i.w.Flush()
}

func (l *line) writeStations(_ context.Context, w io.Writer) error {
	i := inserter{w: bufio.NewWriter(w), head: "INSERT INTO `station_master` " +
		"(`id`, `distance`, `name`, `is_stop_express`, `is_stop_semi_express`, `is_stop_local`) VALUES"}
	for _, s := range l.stations {
		i.row("(%d, %.2f, '%s', %d, %d, 1)", s.ID, s.Distance, s.Name, bit(s.Express), bit(s.Semi))
	}
	return i.end()
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (l *line) writeTrains(ctx context.Context, w io.Writer) error {
	i := inserter{w: bufio.NewWriter(w), head: "INSERT INTO `train_master` " +
		"(`date`, `departure_at`, `train_class`, `train_name`, `start_station`, `last_station`, `is_nobori`) VALUES"}
	for _, day := range l.trains {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, t := range day {
			i.row("('%s', '%s', '%s', '%s', '%s', '%s', %d)", date(t.day, "-"), clock(t.departs), t.class, t.name,
				l.station(t.start).Name, l.station(t.last).Name, bit(t.up))
		}
	}
	return i.end()
}

// writeTimetable writes the stops of each train along the whole line, in the order of the
// stations, as the contest's generator did.
func (l *line) writeTimetable(ctx context.Context, w io.Writer) error {
	i := inserter{w: bufio.NewWriter(w), head: "INSERT INTO `train_timetable_master` " +
		"(`date`, `train_class`, `train_name`, `station`, `departure`, `arrival`) VALUES"}
	for _, day := range l.trains {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, t := range day {
			for _, s := range l.stations {
				if s.stops(t.class) {
					i.row("('%s', '%s', '%s', '%s', '%s', '%s')", date(t.day, "-"), t.class, t.name, s.Name,
						clock(t.departure[s.ID-1]), clock(t.arrival[s.ID-1]))
				}
			}
		}
	}
	return i.end()
}

// tokyo is the time zone of the line.
var tokyo = time.FixedZone("JST", 9*60*60)

// at is a time of a day; day 0 is 2020-01-01.
func at(day, seconds int) time.Time {
	return time.Date(2020, 1, 1+day, 0, 0, seconds, 0, tokyo)
}

func date(day int, separator string) string {
	return strings.ReplaceAll(at(day, 0).Format(time.DateOnly), "-", separator)
}

// clock is a time of the day as the database stores it; what passes midnight begins anew.
func clock(seconds int) string {
	seconds %= 24 * 60 * 60
	return fmt.Sprintf("%02d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
}
