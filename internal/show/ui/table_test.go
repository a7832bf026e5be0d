package ui

import (
	"net/url"
	"strings"
	"testing"
)

func sample() *Table {
	t := &Table{Name: "t", Columns: []Column{leftColumn("name", "name"), rightColumn("n", "number")}}
	for _, r := range []struct {
		name string
		n    int
	}{{"b", 10}, {"a", 9}, {"C", 100}} {
		t.Rows = append(t.Rows, []Cell{text(r.name), whole(r.n)})
	}
	return t
}

func TestTable(t *testing.T) {
	for address, want := range map[string]string{
		"/p":                    "b a C",
		"/p?t.sort=n":           "a b C",
		"/p?t.sort=-n":          "C b a",
		"/p?t.sort=name":        "C a b",
		"/p?t.sort=nothing":     "b a C",
		"/p?t.q=c":              "C",
		"/p?t.q=10&t.sort=n":    "b C",
		"/p?t.q=none":           "",
		"/p?other.sort=n&x=%22": "b a C",
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		table := sample().view(u)
		var names []string
		for _, r := range table.Rows {
			names = append(names, r[0].Text)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
		var tsv strings.Builder
		if err := table.write(&tsv); err != nil || strings.Count(tsv.String(), "\n") != len(table.Rows)+1 {
			t.Errorf("%s: %q, %v", address, tsv.String(), err)
		}
	}
	u, _ := url.Parse("/p?t.sort=-n&t.q=1&x=2")
	table := sample().view(u)
	if table.Columns[1].State != "descending" || table.Columns[1].Sort != "/p?t.q=1&t.sort=n&x=2#t" || table.Columns[0].Sort != "/p?t.q=1&t.sort=name&x=2#t" || table.TSV != "/p?t.q=1&t.sort=-n&tsv=t&x=2" {
		t.Errorf("%+v, TSV %s", table.Columns, table.TSV)
	}
	if len(table.Hidden) != 2 || table.Hidden[0] != (Field{"t.sort", "-n"}) {
		t.Errorf("hidden fields %+v", table.Hidden)
	}
}

// TestCut: a page has a bounded number of rows, its file has all.
func TestCut(t *testing.T) {
	long := &Table{Name: "t", Columns: []Column{rightColumn("n", "n")}}
	for i := range maxRows + 50 {
		long.Rows = append(long.Rows, []Cell{whole(i)})
	}
	u, _ := url.Parse("/p")
	if got := long.view(u).cut(u); len(got.Rows) != maxRows || got.All != maxRows+50 || got.More != "/p?t.rows=all#t" {
		t.Errorf("%d rows, %d, %s", len(got.Rows), got.All, got.More)
	}
}
