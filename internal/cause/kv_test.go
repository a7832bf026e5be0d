package cause_test

import (
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// cacheScene is a run of few requests with a Redis.
func cacheScene(facts map[string]string, settings map[string]string) *scene {
	x := newScene().route("GET /", "/", 300, 2000, iikanji.WebRow{Upstream: time.Second})
	x.Target = iikanji.Target{Services: []iikanji.Service{{Name: "kv", Role: iikanji.RoleCache, Engine: iikanji.EngineRedis}, {Name: "app", Role: iikanji.RoleApp},
		{Name: "nginx", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx}}}
	for k, v := range facts {
		x.with("kv", string(fact.TopicCacheCounter), k, v)
	}
	x.with("kv", string(fact.TopicCacheSetting), "redis_version", "7.0.15")
	for k, v := range settings {
		x.with("kv", string(fact.TopicCacheSetting), k, v)
	}
	return x
}

// TestFewRequests: what a slow site does with a cache for each of its few requests is a
// finding; what happens once is none.
func TestFewRequests(t *testing.T) {
	one(t, cacheScene(map[string]string{"command.keys.calls": "280", "command.keys.usec": "900"}, nil), "KV101", "KEYS")
	one(t, cacheScene(map[string]string{"command.keys.calls": "9", "command.keys.usec": "90"}, nil), "KV101", "")
	one(t, cacheScene(map[string]string{"command.get.calls": "280", "command.get.usec": "900"}, nil), "KV101", "")

	one(t, cacheScene(map[string]string{"total_connections_received": "90"}, map[string]string{"connected_clients": "3"}), "KV102", "kv")
	one(t, cacheScene(map[string]string{"total_connections_received": "40"}, map[string]string{"connected_clients": "30"}), "KV102", "")
	one(t, cacheScene(map[string]string{"total_connections_received": "90"}, nil), "KV102", "")

	sessions := map[string]string{"command.set.calls": "60", "command.del.calls": "50", "keys": "8"}
	keys := map[string]string{"keys": "8", "keys_that_expire": "0", "maxmemory": "0"}
	one(t, cacheScene(sessions, keys), "KV103", "kv")
	one(t, cacheScene(map[string]string{"command.set.calls": "60", "keys": "1"}, keys), "KV103", "") // one counter is set again and again
	sessions["command.expire.calls"] = "60"
	one(t, cacheScene(sessions, keys), "KV103", "")
}
