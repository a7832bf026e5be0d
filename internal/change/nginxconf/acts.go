package nginxconf

import (
	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// acts are what this kind can plan. An entry and the type that it names are the
// whole declaration of an act: help, documentation, beliefs and the decoding of
// arguments derive from them.
var acts = []change.DeclaredAct{
	declare[upstreamKeepalive](change.Act{
		Name: "upstream keepalive", Help: "keep connections to the app open",
		Belief: change.Belief{Chance: 0.6, Gain: 0.08}, Worth: change.WorthLine, Simplifies: true,
	}),
	declare[upstreamSocket](change.Act{
		Name: "upstream socket", Help: "connect to the app by its unix socket",
		Belief: usual, Worth: change.WorthLine, Simplifies: true,
	}),
	declare[staticFiles](change.Act{
		Name: "static files", Help: "serve files from disk, and from the app where there is no file",
		Belief: change.Belief{Chance: 0.5, Gain: 0.05}, Worth: change.WorthLine, Simplifies: true,
	}),
	declare[internalFiles](change.Act{
		Name: "internal files", Help: "send files of which the app's answer gives the name in X-Accel-Redirect",
		Belief: usual, Worth: change.WorthLine, Simplifies: true,
	}),
	declare[gzipAnswers](change.Act{
		Name: "gzip", Help: "compress answers",
		Belief: change.Belief{Chance: 0.15, Gain: 0.02}, Worth: change.WorthLine, Simplifies: true,
	}),
	declare[gzipStatic](change.Act{
		Name: "gzip static", Help: "make compressed copies, once, of files that nginx serves from disk already",
		Belief: usual, Worth: change.WorthLine, Simplifies: true,
	}),
	declare[expires](change.Act{
		Name: "expires", Help: "how long clients may keep an answer; weakens freshness",
		Belief: usual, Worth: change.WorthState,
	}),
	declare[cache](change.Act{
		Name: "cache", Help: "keep answers to GET and HEAD for a short time; weakens freshness",
		Belief: change.Belief{Chance: 0.5, Gain: 0.10}, Worth: change.WorthState,
	}),
	declare[untilReset](change.Act{
		Name: "cache until reset", Help: "keep answers that never change for long, and drop them when a request makes the data anew; weakens tested-only with the proof of a run, else freshness",
		Belief: change.Belief{Chance: 0.5, Gain: 0.10}, Worth: change.WorthState,
	}),
	declare[buffers](change.Act{
		Name: "buffers", Help: "hold bodies and answers in memory",
		Belief: usual, Worth: change.WorthLine, Simplifies: true,
	}),
	declare[workers](change.Act{
		Name: "workers", Help: "the number of worker processes and their limits",
		Belief: usual, Worth: change.WorthLine, Simplifies: true,
	}),
	declare[openFileCache](change.Act{
		Name: "open file cache", Help: "keep descriptors of files open; weakens freshness",
		Belief: usual, Worth: change.WorthState,
	}),
	declare[accessLog](change.Act{
		Name: "access log", Help: "how the access log is written",
		Belief: usual, Worth: change.WorthLine, Blinds: []iikanji.Source{iikanji.Access}, Simplifies: true,
	}),
	declare[refuseUserAgents](change.Act{
		Name: "refuse user agents", Help: "refuse requests by their User-Agent; weakens availability",
		Belief: usual, Worth: change.WorthLine,
	}),
	declare[setDirective](change.Act{
		Name: "set", Help: "set one directive, such as worker_connections, sendfile, tcp_nopush, keepalive_requests, proxy_buffers, gzip_static",
		Belief: usual, Worth: change.WorthLine, Simplifies: true,
	}),
}

// usual is the belief of an act without experience of its own.
var usual = change.Belief{Chance: 0.3, Gain: 0.03}

// An editor is the decoded arguments of an act.
type editor interface {
	edit(t *task) error
}

// declare makes an act of a declaration and the struct of its arguments.
func declare[A any, P interface {
	*A
	editor
}](a change.Act) change.DeclaredAct {
	return change.Declare[A](a)
}

// match finds the act of a remedy and decodes its arguments.
func match(r iikanji.Remedy) (change.Act, editor, error) { return change.MatchAct[editor](acts, r) }

// Acts implements change.Kind.
func (Kind) Acts() []change.Act { return change.ActsOf(acts) }

// Match implements change.Kind. The act's Worth, Blinds and Simplifies are
// those for the remedy's arguments.
func (Kind) Match(r iikanji.Remedy) (change.Act, error) {
	a, _, err := match(r)
	return a, err
}
