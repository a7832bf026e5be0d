package main

import (
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/logs/slowlog"
)

// TestTranslateFilter: filters in Perl become filters of slow.
func TestTranslateFilter(t *testing.T) {
	for perl, want := range map[string]string{
		`$event->{user} eq "isu"`: `user = isu`,
		`($event->{Query_time} || 0) > 1.5 && $event->{arg} =~ m/^select .* from/i`: `time > 1.5 and statement ~ "^select .* from"`,
		`$event->{db} !~ qr/test/ and $event->{Rows_examined} >= 1000`:              `db !~ test and rows_examined >= 1000`,
	} {
		c := &slowCmd{ptFlags: ptFlags{Filter: perl}}
		if err := c.translateFilter(); err != nil || c.Where != want {
			t.Errorf("%s: %q, want %q (%v)", perl, c.Where, want, err)
		}
	}
}

// FuzzTranslateFilter: values keep their quotes in a translated filter.
func FuzzTranslateFilter(f *testing.F) {
	for _, s := range []string{`$event->{user} =~ m/a"b/`, `$event->{db} eq ''`, `($event->{host} || "") ne "x' and y" && $event->{ip} == 7`, `$event->{arg} =~ /\//`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, perl string) {
		c := &slowCmd{ptFlags: ptFlags{Filter: perl}}
		if c.translateFilter() != nil || c.Where == "" {
			return
		}
		_, err := slowlog.ParseWhere(c.Where, time.UTC)
		for _, broken := range []string{"left over", "no closing", "not a condition", "is not one of"} {
			if err != nil && strings.Contains(err.Error(), broken) {
				t.Errorf("%q: %q: %v", perl, c.Where, err)
			}
		}
	})
}
