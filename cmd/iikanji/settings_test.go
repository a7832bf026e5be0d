package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/iikanji/iikanji/internal/contest/arena"
)

func TestSettingFlags(t *testing.T) {
	declared := []arena.Setting{{Name: "mail", Kind: arena.Address}, {Name: "mail-url", Kind: arena.URL}, {Name: "key", Kind: arena.File}}
	for args, want := range map[string]string{
		"":                                  "",
		"bench shop":                        "bench shop",
		"bench shop --mail h:1 --json":      "bench shop --set mail=h:1 --json",
		"bench --mail-url=http://h/?a=b -v": "bench --set mail-url=http://h/?a=b -v",
		"bench shop --key=":                 "bench shop --set key=",
		"bench -- --mail x":                 "bench -- --mail x",
		"bench --other mail --mails x mail": "bench --other mail --mails x mail",
	} {
		got, err := settingFlags(strings.Fields(args), declared)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: %q, %v; want %q", args, got, err, want)
		}
	}
	if got, err := settingFlags([]string{"bench", "--key", "~/k.pem"}, declared); err != nil || !strings.HasPrefix(got[2], "key=/") {
		t.Errorf("a path in the home folder: %q, %v", got, err)
	}
	if got, err := settingFlags([]string{"bench", "--mail"}, declared); err == nil {
		t.Errorf("a value is missing: %q", got)
	}
	if got := declaredFor([]string{"tune", "isucondition"}); len(got) > 0 {
		t.Errorf("tune has the settings %v", got)
	}
	if got := declaredFor([]string{"bench", "--json", "isucondition"}); len(got) == 0 {
		t.Error("bench has no settings")
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
