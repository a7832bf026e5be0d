package isutrain

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestGenerate: the files are the same each time, and the data is as the rules say.
func TestGenerate(t *testing.T) {
	var first []byte
	for range 2 {
		dir := t.TempDir()
		if err := smallSize.generate(t.Context(), filepath.Join(dir, "webapp"), filepath.Join(dir, "data")); err != nil {
			t.Fatal(err)
		}
		var all []byte
		for _, name := range []string{"90_train.sql", "91_station.sql", "94_timetable.sql"} {
			text, err := os.ReadFile(filepath.Join(dir, "webapp", "sql", name))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, text...)
		}
		if first != nil && !bytes.Equal(first, all) {
			t.Error("the second time the files differ")
		}
		first = all
		if l, err := readLine(filepath.Join(dir, "data")); err != nil || l.size != smallSize {
			t.Errorf("the benchmarker's copy: %v", err)
		}
	}
}

// TestLine: stations, trains and stops have the contest's numbers.
func TestLine(t *testing.T) {
	l := contestSize.draw()
	if len(l.stations) != stations || l.station(stations).Distance != lineLength || l.station(1).Name != "東京" {
		t.Errorf("%d stations, the last at %.2f", len(l.stations), l.station(stations).Distance)
	}
	stops, expresses, trains := 0, 0, 0
	for _, day := range l.trains {
		for _, tr := range day {
			trains++
			if tr.class == express {
				expresses++
			}
			for _, s := range l.stations {
				stops += bit(s.stops(tr.class))
			}
		}
	}
	if trains != 92*96 || stops < 330000 || stops > 370000 || expresses*100/trains < 47 || expresses*100/trains > 53 {
		t.Errorf("%d trains, %d of them express, %d stops", trains, expresses, stops)
	}
	if tr := l.trains[0][0]; tr.class != express || tr.last != stations || tr.name != "1" {
		t.Errorf("the first train is %s %s", tr.class, tr.name)
	}
	if tr := l.trains[0][contestSize.testerTrain()]; tr.class != local || tr.last != stations || tr.name != "161" {
		t.Errorf("the background tester's train is %s %s", tr.class, tr.name)
	}
}

// TestBonus: adjacent seats of a row have the contest's points.
func TestBonus(t *testing.T) {
	for columns, points := range map[string]float64{"AB": 10, "AC": 0, "ABD": 10, "ABC": 15, "ABDE": 20, "ABCE": 15, "ABCD": 20, "ABCDE": 25} {
		var list []seat
		for _, c := range columns {
			list = append(list, seat{8, 1, string(c)})
		}
		sum := 0.0
		for _, e := range bonuses(list) {
			sum += table.Events[e].Points
		}
		if sum != points {
			t.Errorf("%s: %g points, want %g", columns, sum, points)
		}
	}
}
