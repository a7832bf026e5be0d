package facts

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// A Cache is what a Redis or a memcached reports of itself at one moment.
type Cache struct {
	// Counters only grow: commands, connections, hits, evictions.
	Counters map[string]float64
	// Settings are limits and present sizes, as text.
	Settings map[string]string
}

// maxCacheReply is the longest reply that is read from a cache, in bytes.
const maxCacheReply = 4 << 20

// A CacheError is a cache that refused a command, for example without a password.
type CacheError struct{ Says string }

func (e *CacheError) Error() string { return "the cache answered: " + e.Says }

// ReadCache asks a cache for its counters and settings. It sends only commands that
// read. network is tcp or unix.
func ReadCache(ctx context.Context, h host.Host, engine iikanji.Engine, network, address string) (c Cache, err error) {
	conn, err := dialToAsk(ctx, h, network, address)
	if err != nil {
		return c, fmt.Errorf("connecting to the cache: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	c = Cache{Counters: map[string]float64{}, Settings: map[string]string{}}
	if engine == iikanji.EngineMemcached {
		return c, c.memcached(conn)
	}
	return c, c.redis(conn)
}

// redisSettings are the limits that are read besides INFO.
var redisSettings = []string{"maxmemory", "maxmemory-policy", "maxclients", "slowlog-log-slower-than"}

func (c *Cache) redis(conn net.Conn) error {
	ask := redisAsker(conn).ask
	info, err := ask("INFO", "all")
	if err != nil {
		return err
	}
	c.AddRedisInfo(strings.Join(info, "\n"))
	var refused *CacheError // a server may forbid CONFIG and SLOWLOG: INFO has most of it
	for _, name := range redisSettings {
		pair, err := ask("CONFIG", "GET", name)
		if err != nil && !errors.As(err, &refused) {
			return err
		}
		if len(pair) == 2 {
			c.Settings[pair[0]] = pair[1]
		}
	}
	slow, err := ask("SLOWLOG", "LEN")
	if err != nil && !errors.As(err, &refused) {
		return err
	}
	if len(slow) == 1 {
		c.Settings["slowlog_length"] = slow[0]
	}
	return nil
}

// respCommand is a command in Redis's protocol.
func respCommand(words []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b.String()
}

// maxRESPDepth and maxRESPItems bound what a server may make readRESP do.
const (
	maxRESPDepth = 8
	maxRESPItems = 10000
)

// readRESP reads one reply of Redis's protocol, version 2. The items of nested
// arrays are joined into one list.
func readRESP(r *bufio.Reader, depth int) ([]string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line = strings.TrimRight(line, "\r\n")
	if line == "" || depth > maxRESPDepth {
		return nil, errors.New("it is no reply of Redis")
	}
	kind, text := line[0], line[1:]
	switch kind {
	case '+', ':':
		return []string{text}, nil
	case '-':
		return nil, &CacheError{text}
	}
	n, err := strconv.Atoi(text)
	if err != nil || kind != '$' && kind != '*' || n > maxCacheReply || kind == '*' && n > maxRESPItems {
		return nil, errors.New("it is no reply of Redis")
	}
	if n < 0 {
		return nil, nil
	}
	if kind == '$' {
		b := make([]byte, n+2)
		if _, err := io.ReadFull(r, b); err != nil {
			return nil, err
		}
		return []string{string(b[:n])}, nil
	}
	var out []string
	for range n {
		items, err := readRESP(r, depth+1)
		if err != nil {
			return nil, err
		}
		if out = append(out, items...); len(out) > maxRESPItems {
			return nil, errors.New("the reply is too long")
		}
	}
	return out, nil
}

// redisCounters are the lines of INFO that only grow.
var redisCounters = map[string]bool{"total_connections_received": true, "total_commands_processed": true, "rejected_connections": true, "expired_keys": true,
	"evicted_keys": true, "keyspace_hits": true, "keyspace_misses": true, "total_net_input_bytes": true, "total_net_output_bytes": true,
	"used_cpu_sys": true, "used_cpu_user": true, "uptime_in_seconds": true}

// redisSizes are the lines of INFO that are kept as they are.
var redisSizes = map[string]bool{"redis_version": true, "connected_clients": true, "blocked_clients": true, "used_memory": true, "maxmemory": true,
	"maxmemory_policy": true, "mem_fragmentation_ratio": true, "maxclients": true, "aof_enabled": true, "rdb_last_bgsave_time_sec": true}

// AddRedisInfo adds the lines of INFO. Of each command "x" it adds the counters
// "command.x.calls" and "command.x.usec"; of all databases together, the settings
// "keys" and "keys_that_expire".
func (c *Cache) AddRedisInfo(text string) {
	keys, expire := 0.0, 0.0
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		number, err := strconv.ParseFloat(value, 64)
		command, isCommand := strings.CutPrefix(name, "cmdstat_")
		switch {
		case redisCounters[name] && err == nil:
			c.Counters[name] = number
		case redisSizes[name]:
			c.Settings[name] = value
		case isCommand:
			f := fields(value)
			c.Counters["command."+command+".calls"], c.Counters["command."+command+".usec"] = f["calls"], f["usec"]
		case strings.HasPrefix(name, "db") && strings.Contains(value, "keys="):
			f := fields(value)
			keys, expire = keys+f["keys"], expire+f["expires"]
		}
	}
	c.Settings["keys"], c.Settings["keys_that_expire"] = strconv.FormatFloat(keys, 'f', -1, 64), strconv.FormatFloat(expire, 'f', -1, 64)
}

// fields reads a list as in "calls=2,usec=7".
func fields(text string) map[string]float64 {
	out := map[string]float64{}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		if v, err := strconv.ParseFloat(value, 64); err == nil {
			out[name] = v
		}
	}
	return out
}

func (c *Cache) memcached(conn net.Conn) error {
	r := bufio.NewReader(io.LimitReader(conn, maxCacheReply))
	for _, command := range []string{"stats", "stats settings"} {
		if _, err := io.WriteString(conn, command+"\r\n"); err != nil {
			return fmt.Errorf("asking the cache: %w", err)
		}
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return fmt.Errorf("reading the cache's answer to %s: %w", command, err)
			}
			line = strings.TrimRight(line, "\r\n")
			if line == "END" {
				break
			}
			if !c.AddMemcachedStat(line) {
				return fmt.Errorf("reading the cache's answer to %s: %w", command, &CacheError{line})
			}
		}
	}
	return nil
}

// memcachedSizes are the values of stats that do not only grow.
var memcachedSizes = map[string]bool{"curr_connections": true, "max_connections": true, "maxconns": true, "limit_maxbytes": true, "maxbytes": true, "bytes": true,
	"curr_items": true, "threads": true, "num_threads": true, "version": true, "item_size_max": true}

// memcachedCounters are the values of stats that only grow.
var memcachedCounters = map[string]bool{"uptime": true, "total_connections": true, "rejected_connections": true, "listen_disabled_num": true, "cmd_get": true, "cmd_set": true,
	"cmd_touch": true, "cmd_flush": true, "get_hits": true, "get_misses": true, "evictions": true, "expired_unfetched": true, "evicted_unfetched": true,
	"bytes_read": true, "bytes_written": true, "conn_yields": true, "store_too_large": true, "store_no_memory": true}

// AddMemcachedStat adds a line of stats. It reports whether it is one.
func (c *Cache) AddMemcachedStat(line string) bool {
	f := strings.SplitN(line, " ", 3)
	if len(f) != 3 || f[0] != "STAT" {
		return false
	}
	switch number, err := strconv.ParseFloat(f[2], 64); {
	case memcachedCounters[f[1]] && err == nil:
		c.Counters[f[1]] = number
	case memcachedSizes[f[1]]:
		c.Settings[f[1]] = f[2]
	}
	return true
}

// CacheFacts are the growths of a cache's counters between two readings, and its
// settings after. They are empty if the cache was restarted in between.
func CacheFacts(service string, before, after Cache) []iikanji.Fact {
	for _, uptime := range []string{"uptime", "uptime_in_seconds"} {
		if after.Counters[uptime] < before.Counters[uptime] {
			return nil
		}
	}
	var out []iikanji.Fact
	for name, v := range after.Counters {
		if grown := v - before.Counters[name]; grown > 0 {
			out = append(out, fact.TopicCacheCounter.Fact(service, name, grown, true))
		}
	}
	for name, v := range after.Settings {
		out = append(out, fact.TopicCacheSetting.Fact(service, name, v, true))
	}
	for _, name := range []string{"keys", "keys_that_expire"} {
		was, _ := strconv.ParseFloat(before.Settings[name], 64)
		now, _ := strconv.ParseFloat(after.Settings[name], 64)
		if now > was {
			out = append(out, fact.TopicCacheCounter.Fact(service, name, now-was, true))
		}
	}
	sortFacts(out)
	return out
}

// sortFacts sorts facts by topic and key.
func sortFacts(known []iikanji.Fact) {
	slices.SortFunc(known, func(a, b iikanji.Fact) int {
		return cmp.Or(strings.Compare(a.Topic, b.Topic), strings.Compare(a.Key, b.Key))
	})
}
