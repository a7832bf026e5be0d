package propose

import (
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// topics are the topics of facts that help to propose a change. Facts of other
// topics are not sent: only what is known to be harmless is.
var topics = map[string]bool{
	string(fact.TopicTable): true, string(fact.TopicSize): true, string(fact.TopicDialect): true, string(fact.TopicPlan): true,
	string(fact.TopicSelectivity): true, string(fact.TopicNginx): true, string(fact.TopicVariable): true, string(fact.TopicStatus): true,
	string(fact.TopicLimit): true, string(fact.TopicProcess): true, string(fact.TopicSysctl): true, string(fact.TopicAnswer): true, string(fact.TopicVolume): true,
}

// variables are the prefixes of server variables and counters that concern speed.
// None of them holds an account, a key or the path of one.
var variables = []string{"innodb_", "query_cache_", "qcache_", "table_", "open_", "opened_", "tmp_table_", "max_heap_", "max_connections", "max_used_",
	"max_prepared_", "max_allowed_", "sort_", "join_", "read_", "key_b", "key_r", "key_w", "thread", "back_log", "sync_binlog", "log_bin", "slow_", "long_query_time",
	"performance_schema", "skip_name_resolve", "version", "sql_mode", "tx_isolation", "transaction_isolation", "autocommit", "optimizer_", "aria_pagecache_",
	"com_", "handler_", "created_", "select_", "aborted_", "bytes_", "connections", "connection_errors_", "questions", "queries", "uptime", "binlog_", "access_denied_"}

// useful returns the facts that help; of several with the same target, topic and
// key, the last one.
func useful(facts []iikanji.Fact) []iikanji.Fact {
	type place struct{ target, topic, key string }
	at := map[place]int{}
	var out []iikanji.Fact
	for _, f := range facts {
		if !topics[f.Topic] || (fact.TopicVariable.Is(f) || fact.TopicStatus.Is(f)) && !aboutSpeed(f.Key) {
			continue
		}
		p := place{f.Target, f.Topic, f.Key}
		if i, ok := at[p]; ok {
			out[i] = f
			continue
		}
		at[p] = len(out)
		out = append(out, f)
	}
	return out
}

func aboutSpeed(name string) bool {
	name = strings.ToLower(name)
	for _, v := range variables {
		if strings.HasPrefix(name, v) {
			return true
		}
	}
	return false
}
