package target

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// contestText is the tables of a contest day, with the mandatory keys.
const contestText = `version = 1
url = "http://127.0.0.1:8080"
[[service]]
name = "app"
role = "app"
listen = "127.0.0.1:9000"
[bench]
how = "portal"
runs_left = 40
least_gap = "60s"
[team]
remote = "git@git.example.com:team/ledger.git"
notify = ["env:DISCORD_WEBHOOK", "file:/etc/iikanji.env:SLACK"]
[contest]
begin = "2026-11-28T10:00:00+09:00"
end = "2026-11-28T18:00:00+09:00"
final = "best"
floor = 1
forbid = ["portal.example.com", "10.9.0.0/16"]
`

func TestContestKeys(t *testing.T) {
	f, err := Parse("/x/iikanji.toml", []byte(contestText))
	if err != nil {
		t.Fatal(err)
	}
	if f.Bench.How != BenchPortal || f.Bench.RunsLeft != 40 || time.Duration(f.Bench.LeastGap) != time.Minute || f.Contest.Final != FinalBest || f.Contest.Least() != 1 {
		t.Errorf("%+v %+v", f.Bench, f.Contest)
	}
	if !slices.Equal(f.Team.Notify, []Ref{"env:DISCORD_WEBHOOK", "file:/etc/iikanji.env:SLACK"}) {
		t.Errorf("notify %v", f.Team.Notify)
	}
	if got := time.Time(f.Contest.End).UTC().Format(time.RFC3339); got != "2026-11-28T09:00:00Z" {
		t.Errorf("end %s", got)
	}
	again, err := Parse("/x/iikanji.toml", []byte(Print(f, nil)))
	if err != nil || Print(again, nil) != Print(f, nil) {
		t.Errorf("printed and read again: %v\n%s", err, Print(f, nil))
	}
	for host, want := range map[string]bool{"PORTAL.example.com:443": true, "portal.example.com.": true, "10.9.3.4:22": true, "10.8.3.4": false, "web": false, "": false} {
		if f.Contest.Forbids(host) != want {
			t.Errorf("Forbids(%q) is %v", host, !want)
		}
	}
	for remote, want := range map[string]string{"git@git.example.com:team/x.git": "git.example.com", "ssh://git@h:22/x": "h:22", "https://h/x": "h", "/srv/ledger": "", "./a:b": "", "": ""} {
		if got := remoteHost(remote); got != want {
			t.Errorf("remoteHost(%q) is %q, want %q", remote, got, want)
		}
	}
	for remote, want := range map[string]string{"git@portal.example.com:team/x.git": "portal.example.com", "https://10.9.0.1/x": "10.9.0.1", "git@h:x": "", "/srv/x": ""} {
		if got := f.Contest.ForbidsRemote(remote); got != want {
			t.Errorf("ForbidsRemote(%q) is %q, want %q", remote, got, want)
		}
	}
	if new(Rules).Least() != 0.75 {
		t.Error("no default floor")
	}
	local, err := Parse("/x/iikanji.toml", []byte(strings.Replace(contestText, "2026-11-28T10:00:00+09:00", "2026-11-28 00:30", 1)))
	if err != nil || !time.Time(local.Contest.Begin).Equal(time.Date(2026, 11, 28, 0, 30, 0, 0, time.Local)) {
		t.Errorf("a local time: %v, %v", local, err)
	}
}

func TestContestMistakes(t *testing.T) {
	for from, c := range map[string]struct{ to, want string }{
		`"2026-11-28T18:00:00+09:00"`:   {`"2026-11-28T09:00:00+09:00"`, "x.toml:16: the contest ends before it begins"},
		`begin = "2026`:                 {`begin = "2026-`, "x.toml:15: contest.begin: not a time"},
		`floor = 1`:                     {`floor = 1.5`, "floor is 1.5; want a share"},
		`final = "best"`:                {`final = "bets"`, "not a possible value"},
		`forbid = [`:                    {`forbid = ["127.0.0.1", `, "x.toml:2: 127.0.0.1:8080 is a host that this contest forbids"},
		`"git@git.example.com:`:         {`"git@portal.example.com:`, "portal.example.com is a host that this contest forbids"},
		`"env:DISCORD_WEBHOOK"`:         {`"https://discord.com/api/webhooks/1/hunter2"`, "team.notify: not a reference"},
		`"file:/etc/iikanji.env:SLACK"`: {`"process:app:X"`, "receiver 2 of notices is neither"},
		`runs_left = 40`:                {`runs_left = -1`, "runs_left is -1"},
		`how = "portal"`:                {`how = "button"`, "not a possible value"},
	} {
		text := strings.Replace(contestText, from, c.to, 1)
		_, err := Parse("x.toml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.to, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the secret is in the message: %v", err)
		}
	}
}
