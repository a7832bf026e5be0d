package work

import (
	"testing"

	"github.com/iikanji/iikanji"
)

// TestLimit: each machine has its own cores. Those of several are not added up: three idle
// machines are not one that is full.
func TestLimit(t *testing.T) {
	one := []iikanji.Usage{{Who: "nginx", Share: 0.24}, {Who: "app", Share: 0.71}, {Who: "cron", Share: 0.001}}
	for want, usage := range map[string][]iikanji.Usage{
		"":                                   nil,
		"limit: CPU 95 % (app 71, nginx 24)": one,
		"limit: db 98 % (mariadb 90, other 8); local 40 %; app2 2 %": {{Who: "other", Share: 0.4}, {Who: "other", Host: "app2", Share: 0.02},
			{Who: "other", Host: "db", Share: 0.08}, {Who: "mariadb", Host: "db", Share: 0.9}},
	} {
		if got := Limit(&iikanji.Run{Usage: usage}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
