package observe

import (
	"context"
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/facts"
)

// engineEnvoy is the engine of an Envoy: a web server whose configuration no change edits.
const engineEnvoy iikanji.Engine = "envoy"

// An envoyWatch reads the counters of an Envoy before and after the load.
type envoyWatch struct {
	service       iikanji.Service
	host          host.Host
	before, after map[string]float64
	err           error // the first
}

// envoyWatches are the Envoys of a target whose configuration is known.
func envoyWatches(w Watched) []*envoyWatch {
	var out []*envoyWatch
	for _, s := range w.Target.WithEngine(engineEnvoy) {
		if len(s.Configs) > 0 {
			out = append(out, &envoyWatch{service: s, host: w.host(s.Host)})
		}
	}
	return out
}

func (e *envoyWatch) read(ctx context.Context, into *map[string]float64) {
	text, err := e.host.Read(e.service.Configs[0])
	if err == nil {
		if address := facts.EnvoyAdmin(string(text)); address != "" {
			*into, err = facts.ReadEnvoy(ctx, e.host, address)
		} else {
			err = fmt.Errorf("%s has no admin address: Envoy's counters are not known", e.service.Configs[0])
		}
	}
	if err != nil && e.err == nil {
		e.err = err
	}
}

func (e *envoyWatch) begin(ctx context.Context) { e.read(ctx, &e.before) }
func (e *envoyWatch) end(ctx context.Context)   { e.read(ctx, &e.after) }

// known are the facts of the load.
func (e *envoyWatch) known() ([]iikanji.Fact, error) {
	if e.err != nil {
		return nil, e.err
	}
	return facts.EnvoyFacts(e.service.Name, e.before, e.after), nil
}
