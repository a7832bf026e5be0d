package constants

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestFind: numbers that limit work are found in eight languages, and others are not.
func TestFind(t *testing.T) {
	for line, want := range map[string]string{
		"	conditionLimit = 20":                        "conditionLimit=20",
		"const maxWorkers int = 4":                    "maxWorkers=4",
		"	capacity := 60":                             "capacity=60",
		"  LIMIT = 50":                                "LIMIT=50",
		"    MAX_TEAMS: 30,":                          "MAX_TEAMS=30",
		"self.seat_capacity = 1_000":                  "seat_capacity=1000",
		"const MAX_ROOMS: usize = 12;":                "MAX_ROOMS=12",
		"$queueLimit = 5;":                            "queueLimit=5",
		"define('QUEUE_LIMIT', 5);":                   "QUEUE_LIMIT=5",
		"my $max_items => 7,":                         "max_items=7",
		"  :max_per_page => 25,":                      "max_per_page=25",
		"private static final int MAX_STUDENTS = 40;": "MAX_STUDENTS=40",
		"	maxLength = 255":                            "",
		"// limit = 5":                                "",
		"# max = 5":                                   "",
		"climax = 5":                                  "",
		"delimiter = 5":                               "",
		"unlimited = 1":                               "",
		"x = rows.LIMIT":                              "",
		`db.Query("SELECT 1 FROM t LIMIT 5")`:         "",
		"maximize = 3":                                "",
		"const maxAge = 60":                           "",
		"limit = limitOf(r)":                          "",
		"if capacity < 100 {":                         "",
	} {
		got := ""
		for _, c := range Find(line) {
			got += c.Name + "=" + c.Value
		}
		if got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
	if got := fmt.Sprint(Find("a\nmaxA = 1\nb\nmaxB = 2\n")); got != "[{2 maxA 1 maxA = 1} {4 maxB 2 maxB = 2}]" {
		t.Error(got)
	}
}

func TestIsSource(t *testing.T) {
	for name, want := range map[string]bool{"main.go": true, "lib/app.rb": true, "main_test.go": false, "vendor/x/a.go": false, "node_modules/a/b.js": false,
		"a.min.js": false, "README.md": false, ".git/x.go": false} {
		if IsSource(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add("const maxWorkers int = 4\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range Find(text) {
			if c.Line < 1 || c.Line > strings.Count(text, "\n")+1 || c.Name == "" || c.Value == "" || !utf8.ValidString(c.Text) {
				t.Errorf("%+v", c)
			}
		}
	})
}
