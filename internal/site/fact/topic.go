// Package fact has the topics of facts with the Go types of their values, and the types
// that only facts have. It is pure: package facts reads them from machines.
package fact

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// A Topic is the topic of facts whose values have the type T. In the process, a fact has its
// value as Data; in a history as JSON. If T is a string, it is the text in both.
type Topic[T any] string

// Topics of facts about SQL servers and SQLite files. Package facts reads them, rules derive
// findings from them, and change/ddl plans changes with them.
const (
	TopicTable       Topic[catalog.Table]     = "table"       // Key schema.table
	TopicSize        Topic[catalog.TableSize] = "size"        // Key schema.table; Moves
	TopicDialect     Topic[catalog.Dialect]   = "dialect"     // Key "version"
	TopicVariable    Topic[string]            = "variable"    // Key the variable's name, Value its text
	TopicStatus      Topic[float64]           = "status"      // Key the counter's name, Value its growth over the run; Moves
	TopicPlan        Topic[catalog.QueryPlan] = "plan"        // Key the digest, for a median example with TypicalSuffix after it; Moves
	TopicSelectivity Topic[float64]           = "selectivity" // Key SelectivityKey, Value a share 0..1; Moves
	TopicFileGroup   Topic[catalog.FileGroup] = "file_group"  // Key the name of the group; Moves
	TopicValue       Topic[StoredValue]       = "value"       // Target the database, Key the route; Moves
)

// TypicalSuffix ends the Key of the fact of a query plan whose statement has a time
// near the median of its digest. Without the suffix, the query plan is for the slowest
// statement of the digest.
const TypicalSuffix = " typical"

// SelectivityKey is the Key of a selectivity fact: the share of the rows of a
// table that satisfy a predicate, both as text.
func SelectivityKey(schema, table, predicate string) string {
	return strings.ToLower(schema+"."+table) + " " + predicate
}

// Topics of facts about the source of an app. Target is the app.
const (
	TopicCode       Topic[CodePlace]     = "code"        // Key as in "APP203 main.go:12 list"
	TopicHandler    Topic[Handler]       = "handler"     // Key the route as registered, as in "GET /a/:id"
	TopicHot        Topic[HotFunction]   = "hot"         // Key the function; Moves
	TopicSends      Topic[SentStatement] = "sends"       // Key as in "main.go:12"
	TopicQueryCache Topic[QueryCache]    = "query_cache" // Key ""; Moves
	TopicConstant   Topic[Constant]      = "constant"    // Key as in "main.go:12"
)

// Topics of facts about processes and sockets. Target is the service.
const (
	TopicLimit      Topic[string]      = "limit"      // Key as in "nofile", Value the soft limit, "unlimited" for none
	TopicProcess    Topic[float64]     = "process"    // Key "cores" or "gomaxprocs"
	TopicSysctl     Topic[string]      = "sysctl"     // Key as in "net.core.somaxconn", Value its text
	TopicListen     Topic[Listener]    = "listen"     // Key address:port; Moves
	TopicConnection Topic[Connections] = "connection" // Target the client service, Key the service that it connects to; Moves
	TopicVolume     Topic[int64]       = "volume"     // Key the log's kind, Value bytes written during the load; Moves
)

// Topics of facts about caches, a Redis or a memcached: Key the name that the server uses,
// Value the growth of a counter over the run, or a limit or size at its end; Moves.
const (
	TopicCacheCounter Topic[float64] = "cache_counter"
	TopicCacheSetting Topic[string]  = "cache_setting"
)

// Topics of facts about the configuration of web servers.
const (
	TopicNginx        Topic[*nginx.Config] = "nginx"         // Key the path of the main file. In JSON, each include is replaced by the content of its files
	TopicNginxFile    Topic[string]        = "nginx_file"    // Key the path of one file of it, Value its text, byte for byte
	TopicNginxVersion Topic[string]        = "nginx_version" // Value the name and version that a program prints, as in "nginx/1.22.1"
)

// Topics of facts about the answers of web servers. Target is the web server; all move.
const (
	TopicHTTPStatus Topic[int64]     = "http_status" // Key as in "499 GET /api/trend", Value a count
	TopicAnswer     Topic[Answer]    = "answer"      // Key the route
	TopicSeries     Topic[Series]    = "series"      // Key the route
	TopicKept       Topic[KeptPages] = "kept"        // Key the folder of the generations
	TopicAgent      Topic[AgentUse]  = "agent"       // of requests that were not refused: Key the User-Agent, "" for the sum over all
	// The requests that made the data anew before the load, and that were answered with
	// status 200: Key method and path, Value their number.
	TopicReset Topic[int64] = "reset"
	// Counters of a proxy that counts by itself, as Envoy: Key its name there, as in
	// "cluster.web.upstream_cx_total", Value the growth over the run.
	TopicProxyCounter Topic[float64] = "proxy_counter"
)

// A typed is a topic of any type.
type typed interface {
	name() string
	decode(*iikanji.Fact) error
}

// typedTopics are all topics.
func typedTopics() []typed {
	return []typed{TopicTable, TopicSize, TopicDialect, TopicVariable, TopicStatus, TopicPlan, TopicSelectivity, TopicFileGroup, TopicValue,
		TopicCode, TopicHandler, TopicHot, TopicSends, TopicQueryCache, TopicConstant,
		TopicLimit, TopicProcess, TopicSysctl, TopicListen, TopicConnection, TopicVolume, TopicCacheCounter, TopicCacheSetting,
		TopicNginx, TopicNginxFile, TopicNginxVersion, TopicHTTPStatus, TopicAnswer, TopicSeries, TopicKept, TopicAgent, TopicReset, TopicProxyCounter,
		TopicInnoDB, TopicLockWait, TopicDeadlock, TopicUnit, TopicReady, TopicWorkers, TopicBoot, TopicLink, TopicTrip, TopicTies}
}

func (t Topic[T]) name() string { return string(t) }

func (t Topic[T]) decode(f *iikanji.Fact) error {
	value, err := t.Value(*f)
	if _, text := any(value).(string); err == nil && !text {
		f.Data = value
	}
	return err
}

// Is reports whether a fact has the topic.
func (t Topic[T]) Is(f iikanji.Fact) bool { return f.Topic == string(t) }

// Fact is a fact of the topic, which keeps the value: it is not changed afterwards. A value
// that moves changes by itself.
func (t Topic[T]) Fact(target, key string, value T, moves bool) iikanji.Fact {
	f := iikanji.Fact{Target: target, Topic: string(t), Key: key, Moves: moves}
	if text, ok := any(value).(string); ok {
		f.Value = text
		return f
	}
	f.Data = value
	return f
}

// Value is the value of a fact of the topic.
func (t Topic[T]) Value(f iikanji.Fact) (value T, err error) {
	if !t.Is(f) {
		return value, fmt.Errorf("reading fact %s of %s: its topic is %s, not %s", f.Key, f.Target, f.Topic, t)
	}
	if text, ok := any(&value).(*string); ok {
		*text = f.Value
		return value, nil
	}
	if f.Data == nil { // of a history
		err = json.Unmarshal([]byte(f.Value), &value)
	} else if data, ok := f.Data.(T); ok {
		value = data
	} else {
		err = fmt.Errorf("it has a %T", f.Data)
	}
	if err != nil {
		return value, fmt.Errorf("%s: reading the fact %s %s: %w", f.Target, f.Topic, f.Key, err)
	}
	return value, nil
}

// In yields the facts of the topic with their values, in order. The facts of a history were
// decoded when they came into the process ([Decode]), so it passes over no other ones.
func (t Topic[T]) In(facts []iikanji.Fact) iter.Seq2[iikanji.Fact, T] {
	return func(yield func(iikanji.Fact, T) bool) {
		for _, f := range facts {
			if !t.Is(f) {
				continue
			}
			if value, err := t.Value(f); err == nil && !yield(f, value) {
				return
			}
		}
	}
}

// Of is the value of the topic's fact of a target and a key; ok is false if there is none.
func (t Topic[T]) Of(facts []iikanji.Fact, target, key string) (value T, ok bool) {
	for f, value := range t.In(facts) {
		if f.Target == target && f.Key == key {
			return value, true
		}
	}
	return value, false
}

// Text is the value of a fact as a history has it; "" if it has none.
func Text(f iikanji.Fact) string {
	f, err := f.Encoded()
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return f.Value
}

// Decode decodes the values of facts of a history. It returns an error for each fact whose
// value is not of its topic's type, as in a history that was edited, or that another version
// wrote; such a fact stays text.
func Decode(facts []iikanji.Fact) error {
	topics := map[string]typed{}
	for _, t := range typedTopics() {
		topics[t.name()] = t
	}
	var errs []error
	for i := range facts {
		if f := &facts[i]; f.Data == nil && topics[f.Topic] != nil {
			errs = append(errs, topics[f.Topic].decode(f))
		}
	}
	return errors.Join(errs...)
}
