package main

import (
	"reflect"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestOwnValues: the flags of access with a value are known to the translation
// of pasted lines, which copies their values as they are.
func TestOwnValues(t *testing.T) {
	var c struct {
		Access accessCmd `cmd:""`
	}
	k, err := kong.New(&c)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range k.Model.Children[0].Flags {
		takesValue := !f.IsBool() && f.Name != "help"
		if f.Name != "sort" && takesValue != ownValues["--"+f.Name] {
			t.Errorf("--%s: a value is %v, known is %v", f.Name, takesValue, ownValues["--"+f.Name])
		}
		if alpValues["--"+f.Name] != nil && f.Name != "sort" {
			t.Errorf("--%s is ours and is translated as alp's", f.Name)
		}
		n++
	}
	if n < 20 {
		t.Errorf("only %d flags", n)
	}
}

func TestFromAlp(t *testing.T) {
	for args, want := range map[string]string{
		"access.log --sort total":                      "access.log --sort=total",
		"--file a.log":                                 "a.log",
		"--file=a.log -r":                              "a.log",
		"ltsv --file a.log --sort avg":                 "--log-format=ltsv --sort=avg:asc a.log",
		"json a.log --apptime-label x -d s.json":       "--log-format=json a.log --field=upstream=x --save=s.json",
		"regexp --pattern x --percentiles 1,2 --pos p": "--percentiles 1,2 --pos p -",
		"--where json --by ltsv a.log":                 "--where json --by ltsv a.log",
		"json count --file a.log --keys ua":            "--log-format=json --by=user-agent --columns=count,user-agent --sort=count:asc a.log",
		"ltsv count --keys=uri,status --reverse a.log": "--log-format=ltsv --by=url,status --columns=count,url+status a.log --sort=count",
		"alp ltsv --file a.log --paging":               "--log-format=ltsv a.log",
		"kataribe -f kataribe.toml":                    "-",
		"-o all --qs-ignore-values --query-string f":   "--columns=all --query f",
	} {
		got, _, err := fromAlp(strings.Fields(args))
		if err != nil || !reflect.DeepEqual(got, strings.Fields(want)) {
			t.Errorf("%s: %q, %v", args, got, err)
		}
	}
	if _, _, err := fromAlp([]string{"json", "count", "--keys", "x\033y"}); err == nil || !strings.Contains(err.Error(), "user-agent") {
		t.Errorf("an unknown key: %v", err)
	}
}

// TestFromPT: flags that change nothing are left out with their values; all others, and
// the flags of slow, stay.
func TestFromPT(t *testing.T) {
	for args, want := range map[string]string{
		"pt-query-digest --charset utf8 -u root -P 3306 --statistics slow.log": "pt-query-digest slow.log",
		"--password=x --limit 5 --expected-range 5,10 slow.log":                "--limit 5 slow.log",
		"--since 1h slow.log": "--since 1h slow.log",
		"-h 10.0.0.1 -P3306 -uroot -psecret -D isu slow.log h=db1,P=3306":             "slow.log",
		"--nocontinue-on-error --no-vertical-format --no-inherit-attributes slow.log": "slow.log",
		"--no-continue-on-error --resume pos --fingerprints --order-by Query_time:m":  "--order-by Query_time:m",
		"slow.log --pid": "slow.log",
	} {
		got, remarks, err := fromPT(strings.Fields(args))
		if err != nil || !reflect.DeepEqual(got, strings.Fields(want)) || len(remarks) == 0 && got[0] != "--since" {
			t.Errorf("%s: %q, %q, %v", args, got, remarks, err)
		}
	}
	if _, _, err := fromPT(strings.Fields("--since 1h --review h=x slow.log")); err == nil || !strings.Contains(err.Error(), "--review is a flag of pt-query-digest") {
		t.Errorf("--review: %v", err)
	}
	if got, _, err := fromPT([]string{"-h"}); err != nil || len(got) != 1 {
		t.Errorf("-h alone asks for help: %q, %v", got, err)
	}
	var c struct {
		Slow slowCmd `cmd:""`
	}
	k, err := kong.New(&c)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range k.Model.Children[0].Flags {
		if _, answered := ptAnswers["--"+f.Name]; answered {
			t.Errorf("--%s is ours and is left out", f.Name)
		}
	}
}
