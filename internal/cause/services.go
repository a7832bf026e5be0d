package cause

import (
	"maps"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// topicRoles are the topics of facts that only services of one role have.
var topicRoles = map[string]iikanji.Role{
	string(fact.TopicTable): iikanji.RoleDatabase, string(fact.TopicSize): iikanji.RoleDatabase, string(fact.TopicDialect): iikanji.RoleDatabase,
	string(fact.TopicVariable): iikanji.RoleDatabase, string(fact.TopicStatus): iikanji.RoleDatabase, string(fact.TopicPlan): iikanji.RoleDatabase,
	string(fact.TopicCacheCounter): iikanji.RoleCache, string(fact.TopicCacheSetting): iikanji.RoleCache,
	string(fact.TopicSelectivity): iikanji.RoleDatabase, string(fact.TopicLockWait): iikanji.RoleDatabase, string(fact.TopicDeadlock): iikanji.RoleDatabase,
	string(fact.TopicInnoDB): iikanji.RoleDatabase, string(fact.TopicFileGroup): iikanji.RoleDatabase,
	string(fact.TopicNginx): iikanji.RoleWeb, string(fact.TopicNginxFile): iikanji.RoleWeb, string(fact.TopicNginxVersion): iikanji.RoleWeb,
	string(fact.TopicHTTPStatus): iikanji.RoleWeb, string(fact.TopicAnswer): iikanji.RoleWeb, string(fact.TopicSeries): iikanji.RoleWeb,
	string(fact.TopicProxyCounter): iikanji.RoleWeb,
	string(fact.TopicKept):         iikanji.RoleWeb, string(fact.TopicReset): iikanji.RoleWeb, string(fact.TopicAgent): iikanji.RoleWeb, string(fact.TopicWorkers): iikanji.RoleApp, string(fact.TopicValue): iikanji.RoleDatabase,
}

// serviceTopics are the topics of facts that services of every role have.
var serviceTopics = []string{string(fact.TopicLimit), string(fact.TopicProcess), string(fact.TopicListen), string(fact.TopicConnection),
	string(fact.TopicVolume), string(fact.TopicUnit), string(fact.TopicReady)}

// profileRole is the role of the services that a profile is of; RoleUnknown
// where services of several roles have such profiles.
func profileRole(p iikanji.Profile) iikanji.Role {
	switch {
	case p.Source == iikanji.Slow, p.Source == iikanji.Errors && p.Intake.Format == string(iikanji.EngineMariaDB):
		return iikanji.RoleDatabase
	case p.Source == iikanji.Access, p.Source == iikanji.Errors && p.Intake.Format == string(iikanji.EngineNginx):
		return iikanji.RoleWeb
	}
	return iikanji.RoleUnknown
}

// settle returns the input with a target, inferred where it has none, and with
// the names of the target's services in its facts and profiles.
func (in Input) settle() Input {
	if in.settled {
		return in
	}
	in.settled = true
	if len(in.Target.Services) == 0 {
		policy, bench := in.Target.Policy, in.Target.Bench
		in.Target = inferTarget(in)
		in.Target.Policy, in.Target.Bench = policy, bench
	}
	in.Facts, in.Profiles = slices.Clone(in.Facts), slices.Clone(in.Profiles)
	_ = fact.Decode(in.Facts) // once, for all rules; they pass over a fact that is not of its type
	for i, f := range in.Facts {
		if role := topicRoles[f.Topic]; role != iikanji.RoleUnknown {
			in.Facts[i].Target = owner(in.Target, role, f.Target, nil)
		}
	}
	for i, p := range in.Profiles {
		if role := profileRole(p); role != iikanji.RoleUnknown {
			in.Profiles[i].Target = owner(in.Target, role, p.Target, p.Intake.Files)
		}
	}
	in.Profiles = slices.DeleteFunc(in.Profiles, func(p iikanji.Profile) bool { return in.blindAt(p.Source, p.Target) })
	return in
}

// Databases are the names of the target's databases.
func (in Input) Databases() []string {
	var names []string
	for _, s := range in.settle().Target.WithRole(iikanji.RoleDatabase) {
		names = append(names, s.Name)
	}
	return names
}

// StatementServices are the names of the services whose CPU time statements cost: the
// database servers, and the apps if they have SQLite in them.
func (in Input) StatementServices() []string {
	var names []string
	target, inside := in.settle().Target, false
	for _, s := range target.WithRole(iikanji.RoleDatabase) {
		if s.Engine == iikanji.EngineSQLite {
			inside = true
		} else {
			names = append(names, s.Name)
		}
	}
	if inside {
		for _, s := range target.WithRole(iikanji.RoleApp) {
			names = append(names, s.Name)
		}
	}
	return names
}

// owner is the service of a role that a name stands for: the service of that
// name, the service that writes one of the files, or the only service of the
// role. A name that stands for none of them is returned as it is: with several
// services, a profile without an owner belongs to none.
func owner(t iikanji.Target, role iikanji.Role, name string, files []string) string {
	all := t.WithRole(role)
	for _, s := range all {
		if s.Name == name {
			return name
		}
	}
	for _, s := range all {
		if slices.ContainsFunc(s.Logs, func(l iikanji.Log) bool { return l.Path == name || slices.Contains(files, l.Path) }) {
			return s.Name
		}
	}
	if len(all) == 1 {
		return all[0].Name
	}
	return name
}

// inferTarget makes a target of the names in the facts of a run that was kept
// without one. The topics of a service's facts show its role. A service with
// facts of no role's own has the role that its name is the word of, or is an
// app. A role that no fact shows has one service, named by the word of its role
// or engine, as the services of such runs are.
func inferTarget(in Input) iikanji.Target {
	var t iikanji.Target
	add := func(name string, role iikanji.Role) {
		if _, there := t.Service(name); there || name == "" {
			return
		}
		t.Services = append(t.Services, iikanji.Service{Name: name, Role: role, Engine: usualEngines[role]})
	}
	for _, f := range in.Facts {
		if role := topicRoles[f.Topic]; role != iikanji.RoleUnknown {
			add(f.Target, role)
		}
	}
	for _, p := range in.Profiles {
		if role := profileRole(p); p.Source == iikanji.Errors && role != iikanji.RoleUnknown {
			add(p.Target, role)
		}
	}
	for _, f := range in.Facts {
		if slices.Contains(serviceTopics, f.Topic) {
			add(f.Target, wordRole(f.Target))
		}
	}
	for _, role := range []iikanji.Role{iikanji.RoleWeb, iikanji.RoleApp, iikanji.RoleDatabase} {
		if len(t.WithRole(role)) > 0 {
			continue
		}
		name := role.String()
		if role == iikanji.RoleWeb {
			name = string(iikanji.EngineNginx)
		}
		add(name, role)
	}
	return t
}

// usualEngines are the engines of inferred services: no other engine was
// observed before targets were kept.
var usualEngines = map[iikanji.Role]iikanji.Engine{iikanji.RoleWeb: iikanji.EngineNginx, iikanji.RoleDatabase: iikanji.EngineMariaDB}

// wordRole is the role that a word stands for, RoleApp for any other word.
func wordRole(word string) iikanji.Role {
	for role, engine := range usualEngines {
		if engine == iikanji.Engine(word) || role == iikanji.RoleDatabase && iikanji.Engine(word).MySQLFamily() {
			return role
		}
	}
	var role iikanji.Role
	if role.UnmarshalText([]byte(word)) != nil || role == iikanji.RoleUnknown {
		return iikanji.RoleApp
	}
	return role
}

// of is a settled input without what belongs to the other services of the role
// of one service.
func (in Input) of(s iikanji.Service) Input {
	foreign := func(role iikanji.Role, name string) bool {
		if name == s.Name {
			return false
		}
		other, known := in.Target.Service(name)
		return role == s.Role || known && other.Role == s.Role
	}
	in.Facts = slices.DeleteFunc(slices.Clone(in.Facts), func(f iikanji.Fact) bool { return foreign(topicRoles[f.Topic], f.Target) })
	in.Profiles = slices.DeleteFunc(slices.Clone(in.Profiles), func(p iikanji.Profile) bool {
		return p.Source != iikanji.Host && foreign(profileRole(p), p.Target)
	})
	return in
}

// Role is the role of a service, RoleUnknown for a name that the target does
// not have.
func (in Input) Role(name string) iikanji.Role {
	s, _ := in.Target.Service(name)
	return s.Role
}

// of is the view of one service: see [Input.of].
func (v *View) of(s iikanji.Service) *View {
	w := *v
	w.Self, w.Input = s, v.Input.of(s)
	return &w
}

// alone reports whether the view's service is the only one of its role.
func (v *View) alone() bool { return len(v.Input.Target.WithRole(v.Self.Role)) < 2 }

// Apps are the names of the app services that were connected to the view's
// service, or of all app services where no connection is known.
func (v *View) Apps() []string {
	linked := map[string]bool{}
	for f, c := range fact.TopicConnection.In(v.Input.Facts) {
		if c.TCP+c.Unix == 0 {
			continue
		}
		switch v.Self.Name {
		case f.Key:
			linked[f.Target] = true
		case f.Target:
			linked[f.Key] = true
		}
	}
	if v.Self.Engine == iikanji.EngineSQLite { // no connections: the source shows who sends the statements
		for _, s := range v.Sites {
			linked[s.Service] = linked[s.Service] || slices.ContainsFunc(v.Digests, func(d Digest) bool { return d.Query != nil && s.Sends(d) })
		}
	}
	var all, some []string
	for _, s := range v.Input.Target.WithRole(iikanji.RoleApp) {
		all = append(all, s.Name)
		if linked[s.Name] {
			some = append(some, s.Name)
		}
	}
	if len(some) == 0 {
		return all
	}
	return some
}

// OnApps is a remedy for each of the view's apps.
func (v *View) OnApps(kind, says string, args map[string]string) []iikanji.Remedy {
	var out []iikanji.Remedy
	for _, name := range v.Apps() {
		out = append(out, iikanji.Remedy{Kind: kind, Target: name, Says: says, Args: maps.Clone(args)})
	}
	return out
}

// Patch is a change of the source of each of the view's apps.
func (v *View) Patch(says string, args map[string]string) []iikanji.Remedy {
	return v.OnApps("patch", says, args)
}

// OnSelf is a remedy for the view's own service.
func (v *View) OnSelf(kind, says string, args map[string]string) iikanji.Remedy {
	return iikanji.Remedy{Kind: kind, Target: v.Self.Name, Says: says, Args: args}
}

// NginxConf is a change of the configuration of the view's web server, none
// where that is not nginx.
func (v *View) NginxConf(says string, args map[string]string) []iikanji.Remedy {
	if v.Self.Engine != iikanji.EngineNginx {
		return nil
	}
	return []iikanji.Remedy{v.OnSelf("nginxconf", says, args)}
}

// Called is how a sentence calls a service: "the app" where it is the only one
// of its role, else its name.
func (in Input) Called(name string) string {
	role := in.Role(name)
	if role == iikanji.RoleUnknown || len(in.Target.WithRole(role)) > 1 {
		return name
	}
	return "the " + role.String()
}
