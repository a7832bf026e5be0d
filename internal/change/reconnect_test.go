package change

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
)

// TestReconnect: apps are restarted after a database, and after nothing else.
func TestReconnect(t *testing.T) {
	var done []string
	var broken error
	svc := func(name string) Service {
		note := func(how string, err *error) func(context.Context) error {
			return func(context.Context) error { done = append(done, how+" "+name); return *err }
		}
		var none error
		is := acting{restart: note("restart", &none), reload: note("reload", &none)}
		if name == "two" {
			is.restart = note("restart", &broken)
		}
		return Service{Running: is}
	}
	s := &Site{Services: map[string]Service{"store": svc("store"), "one": svc("one"), "two": svc("two"), "front": svc("front"), "outside": {}}}
	s.Target.Services = []iikanji.Service{{Name: "store", Role: iikanji.RoleDatabase}, {Name: "one", Role: iikanji.RoleApp}, {Name: "two", Role: iikanji.RoleApp},
		{Name: "outside", Role: iikanji.RoleApp}, {Name: "front", Role: iikanji.RoleWeb}}
	for _, c := range []struct {
		verb  iikanji.Verb
		place string
		want  []string
	}{
		{iikanji.Restart, "store", []string{"restart store", "restart one", "restart two"}},
		{iikanji.Reload, "store", []string{"reload store"}},
		{iikanji.Restart, "one", []string{"restart one"}},
		{iikanji.Restart, "front", []string{"restart front"}},
	} {
		done = nil
		if err := s.Perform(t.Context(), iikanji.Op{Verb: c.verb, Place: c.place}); err != nil || !slices.Equal(done, c.want) {
			t.Errorf("%s of %s: %q, %v, want %q", c.verb, c.place, done, err, c.want)
		}
	}
	broken = errors.New("it does not start")
	if err := s.Perform(t.Context(), iikanji.Op{Verb: iikanji.Restart, Place: "store"}); !errors.Is(err, broken) || !strings.Contains(err.Error(), "restart of two after that of store") {
		t.Errorf("%v", err)
	}
}
