package slowlog

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/logs/lines"
)

// TestAgainstPTQueryDigest: the grouping, counts, sums, minima and maxima equal
// those of pt-query-digest 3.2.1 for the same logs (its JSON, as TSV).
func TestAgainstPTQueryDigest(t *testing.T) {
	for _, name := range []string{"mariadb", "mysql8"} {
		golden, err := os.ReadFile("testdata/pt/" + name + ".tsv")
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Split(strings.TrimSpace(string(golden)), "\n")[1:]
		in, err := lines.Open("testdata/pt/"+name+".log", nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Read(context.Background(), []*lines.Input{in}, Options{})
		in.Close()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range p.Rows {
			q := r.Query
			got = append(got, fmt.Sprintf("%d\t%.6f\t%.6f\t%.6f\t%.6f\t%d\t%d", r.Count, r.Total.Seconds(), r.Min.Seconds(), r.Max.Seconds(), q.Lock.Seconds(), q.Sent, q.Examined))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s:\ngot\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
