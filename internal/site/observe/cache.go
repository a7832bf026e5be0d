package observe

import (
	"context"
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/facts"
)

// A cacheWatch reads the counters of a Redis or a memcached before and after the
// load.
type cacheWatch struct {
	service       iikanji.Service
	host          host.Host
	before, after facts.Cache
	err           error // the first
}

// cacheWatches are the caches of a target.
func cacheWatches(w Watched) []*cacheWatch {
	var out []*cacheWatch
	for _, s := range w.Target.WithEngine(iikanji.EngineRedis, iikanji.EngineMemcached) {
		if s.Address != "" || s.Socket != "" {
			out = append(out, &cacheWatch{service: s, host: w.host(s.Host)})
		}
	}
	return out
}

func (c *cacheWatch) read(ctx context.Context, into *facts.Cache) {
	network, address := "tcp", reachable(c.service.Address)
	if c.service.Socket != "" {
		network, address = "unix", c.service.Socket
	}
	var err error
	*into, err = facts.ReadCache(ctx, c.host, c.service.Engine, network, address)
	if err != nil && c.err == nil {
		c.err = err
	}
}

// reachable is an address of this machine for a server that listens on all
// interfaces.
func reachable(address string) string {
	for all, one := range map[string]string{"0.0.0.0:": "127.0.0.1:", "[::]:": "[::1]:", "*:": "127.0.0.1:"} {
		if rest, ok := strings.CutPrefix(address, all); ok {
			return one + rest
		}
	}
	return address
}

func (c *cacheWatch) begin(ctx context.Context) { c.read(ctx, &c.before) }
func (c *cacheWatch) end(ctx context.Context)   { c.read(ctx, &c.after) }

// known are the facts of the load.
func (c *cacheWatch) known() ([]iikanji.Fact, error) {
	if c.err != nil {
		return nil, c.err
	}
	out := facts.CacheFacts(c.service.Name, c.before, c.after)
	if len(out) == 0 {
		return nil, fmt.Errorf("%s was restarted during the load", c.service.Name)
	}
	return out, nil
}
