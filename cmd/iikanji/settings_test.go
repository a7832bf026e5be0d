package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/iikanji/iikanji/internal/arena"
)

func TestSettingFlags(t *testing.T) {
	for args, want := range map[string]string{
		"":                                    "",
		"bench isucondition":                  "bench isucondition",
		"bench isucondition --jia h:1 --json": "bench isucondition --set jia=h:1 --json",
		"bench --jia-url=http://h/?a=b isucondition": "bench --set jia-url=http://h/?a=b isucondition",
		"bench isucondition --key=":                  "bench isucondition --set key=",
		"bench -- --jia x":                           "bench -- --jia x",
		"bench nonsense --jia x":                     "bench nonsense --set jia=x",
		"jia --listen h:1 --jia x":                   "jia --set listen=h:1 --jia x",
		"tune isucondition --jia x":                  "tune isucondition --jia x",
		"access --listen jia":                        "access --listen jia",
	} {
		got, err := settingFlags(strings.Fields(args))
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: %q, %v; want %q", args, got, err, want)
		}
	}
	if got, err := settingFlags([]string{"bench", "isucondition", "--key", "~/k.pem"}); err != nil || !strings.HasPrefix(got[3], "key=/") {
		t.Errorf("a path in the home folder: %q, %v", got, err)
	}
	if got, err := settingFlags([]string{"bench", "isucondition", "--jia"}); err == nil {
		t.Errorf("a value is missing: %q", got)
	}
}

// TestSettingNames checks that no setting hides a flag of its command, and that
// no arena's command hides another command.
func TestSettingNames(t *testing.T) {
	parser, err := kong.New(&cli{})
	if err != nil {
		t.Fatal(err)
	}
	flags := map[string][]string{}
	for _, n := range parser.Model.Children {
		flags[n.Name] = []string{"help"}
		for _, f := range n.Flags {
			flags[n.Name] = append(flags[n.Name], f.Name)
		}
	}
	if len(flags["bench"]) < 5 {
		t.Fatalf("bench has the flags %v: the test would prove nothing", flags["bench"])
	}
	for _, name := range arena.Names() {
		a, _ := arena.Find(name)
		for _, s := range a.Settings {
			if slices.Contains(flags["bench"], s.Name) {
				t.Errorf("setting %s of %s is a flag of bench", s.Name, name)
			}
		}
		for _, c := range a.Commands {
			if _, taken := flags[c.Name]; taken {
				t.Errorf("command %s of %s is a command of every arena", c.Name, name)
			}
		}
	}
}
