package arena

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
)

func web(name string) Service {
	return Service{Name: name, Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx, Configs: []Config{{Template: name}}}
}

func db(name string) Service {
	return Service{Name: name, Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB}
}

func app(name string) Service {
	return Service{Name: name, Role: iikanji.RoleApp, Engine: iikanji.EngineGo, Source: name}
}

// TestComplete asserts that services of one engine share no file, and that no
// default depends on the order or the number of services.
func TestComplete(t *testing.T) {
	given := &Arena{Name: "x", Services: []Service{db("one"), db("two"), app("b"), app("a"), web("w")}}
	full, err := given.Complete()
	if err != nil {
		t.Fatal(err)
	}
	if full.Entry != "w" || given.Entry != "" || given.Services[0].Data != "" {
		t.Errorf("entry %q; the given arena is %+v", full.Entry, given)
	}
	for _, name := range []string{"one", "two"} {
		s := full.Service(name)
		if s.MainConfig() != name+".cnf" || s.Data != name || s.Socket != name+".sock" || s.LogFile("slow") != name+"-slow.log" || !s.IsProcess() {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if full.Service("three") != nil {
		t.Error("there is a service three")
	}
	again, err := full.Complete()
	if err != nil || len(again.Services) != 5 || again.Services[0].Configs[0].Text != full.Services[0].Configs[0].Text {
		t.Errorf("completed twice: %+v, %v", again, err)
	}
}

func TestIncomplete(t *testing.T) {
	with := func(s Service, edit func(*Service)) Service {
		edit(&s)
		return s
	}
	for want, services := range map[string][]Service{
		"Entry":                       {app("a")},
		"Entry ":                      {web("w"), web("v")},
		"services a and w share log/": {with(app("a"), func(s *Service) { s.Output = "w.log" }), web("w")},
		"two services are called w":   {web("w"), with(web("w"), func(s *Service) { s.Role = iikanji.RoleApp })},
		"share work/d":                {with(db("d"), func(s *Service) {}), with(db("e"), func(s *Service) { s.Data = "d" }), web("w")},
		"\"Big\" is not a name":       {web("w"), app("Big")},
		"\"webapp\" cannot be":        {web("w"), with(app("a"), func(s *Service) { s.Data = "webapp" })},
		"\"../x\" cannot be":          {web("w"), with(app("a"), func(s *Service) { s.Data = "../x" })},
		"is not a path inside":        {web("w"), with(app("a"), func(s *Service) { s.Output = "../x" })},
		"is not a path inside ":       {web("w"), with(app("a"), func(s *Service) { s.Socket = "a b" })},
	} {
		_, err := (&Arena{Name: "x", Services: services}).Complete()
		if err == nil || !strings.Contains(err.Error(), strings.TrimSpace(want)) {
			t.Errorf("error: %v, want %q", err, want)
		}
	}
}

func TestVariant(t *testing.T) {
	ruby := Service{Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineRuby, Source: "ruby", Start: []string{"ruby", "app.rb"}}
	worker := Service{Name: "worker", Role: iikanji.RoleApp, Engine: iikanji.EngineRuby, Source: "ruby", Start: []string{"ruby", "w.rb"}, NoPort: true}
	a := &Arena{Name: "x", Commands: []Command{{Name: "jia"}}, Ladder: os.DirFS("."), Services: []Service{db("db"), app("app"), web("w")},
		Variants: []Variant{{Name: "ruby", Summary: "in Ruby", Services: []Service{ruby, worker}}, {Name: "node", Ladder: os.DirFS("..")}}}
	Register(a)
	v, ok := Find("x-ruby")
	if !ok {
		t.Fatalf("there is: %v", Names())
	}
	var names []string
	for _, s := range v.Services {
		names = append(names, s.Name+" "+string(s.Engine))
	}
	if want := []string{"db mariadb", "app ruby", "worker ruby", "w nginx"}; !slices.Equal(names, want) {
		t.Errorf("services %q, want %q", names, want)
	}
	if a.Services[1].Engine != iikanji.EngineGo {
		t.Error("the arena itself was changed")
	}
	node, _ := Find("x-node")
	if a.Ladder != os.DirFS(".") || v.Ladder != nil || node.Ladder != os.DirFS("..") {
		t.Errorf("ladders %v, %v and %v, want the arena's own, none, and the variant's own", a.Ladder, v.Ladder, node.Ladder)
	}
	if len(a.Commands) != 1 || len(v.Commands) != 0 {
		t.Errorf("commands %v and %v, want only the arena's own", a.Commands, v.Commands)
	}
	if v.Name != "x-ruby" || v.Summary != "in Ruby" || !slices.Equal(Names(), []string{"x", "x-node", "x-ruby"}) {
		t.Errorf("%+v; names %v", v, Names())
	}
	defer func() {
		if recover() == nil {
			t.Error("the name of a variant was taken twice")
		}
	}()
	Register(&Arena{Name: "x-ruby"})
}

// TestPlaces asserts that a name that the arena does not declare is a BUG and not
// an empty address.
func TestPlaces(t *testing.T) {
	p := Places{Entry: "w", Services: map[string]Place{"w": {Name: "w", Address: "127.0.0.1:80", Logs: map[string]string{"access": "/a"}}}}
	if p.URL() != "http://127.0.0.1:80" || p.Service("w").Log("access") != "/a" {
		t.Errorf("%s %+v", p.URL(), p.Service("w"))
	}
	for name, wrong := range map[string]func(){"service": func() { p.Service("x") }, "log": func() { p.Service("w").Log("slow") }} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a %s that is not declared was found", name)
				}
			}()
			wrong()
		}()
	}
}

// TestCompleteCaches asserts the commands and configurations of
// caches, and that a declared field keeps its value.
func TestCompleteCaches(t *testing.T) {
	full, err := (&Arena{Name: "x", Services: []Service{app("shop"),
		{Name: "m", Role: iikanji.RoleCache, Engine: iikanji.EngineMemcached, Memory: 100},
		{Name: "r", Role: iikanji.RoleQueue, Engine: iikanji.EngineRedis, Memory: 9},
		{Name: "own", Role: iikanji.RoleCache, Engine: iikanji.EngineRedis, Start: []string{"redis"}, Ready: Ready{Expect: "hi"}, Configs: []Config{{Text: "mine"}}},
		{Name: "v", Role: iikanji.RoleWeb, Engine: iikanji.EngineVarnish, Backend: "shop"}}}).Complete()
	if err != nil {
		t.Fatal(err)
	}
	if s := full.Service("m"); strings.Join(s.Start, " ") != "memcached -l 127.0.0.1 -p {{.Self.Port}} -U 0 -m 1" || s.Ready.Expect != "VERSION " {
		t.Errorf("memcached: %+v", s)
	}
	if s := full.Service("r"); !strings.Contains(s.Configs[0].Text, "maxmemory 9\n") || strings.Contains(s.Configs[0].Text, "save") || s.Data != "r" || s.MainConfig() != "r.conf" {
		t.Errorf("redis as a queue: %+v", s)
	}
	if s := full.Service("own"); s.Start[0] != "redis" || s.Ready.Send != "" || s.Ready.Expect != "hi" || s.Configs[0].Text != "mine" {
		t.Errorf("declared fields: %+v", s)
	}
	if s := full.Service("v"); s.MainConfig() != "v.vcl" || !strings.Contains(s.Configs[0].Text, `.Service "shop"`) || s.Ready.Path != "/" || full.Entry != "v" {
		t.Errorf("varnish: %+v", s)
	}
	for _, backend := range []string{"none", "v"} {
		bad := Arena{Name: "x", Services: []Service{web("w"), {Name: "v", Role: iikanji.RoleCache, Engine: iikanji.EngineVarnish, Backend: backend, NoPort: backend == "v"}}}
		if _, err := bad.Complete(); err == nil || !strings.Contains(err.Error(), "its backend") {
			t.Errorf("backend %q: %v", backend, err)
		}
	}
}
