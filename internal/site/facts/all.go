package facts

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// All reads the dialect, the variables and the tables of schemas and returns
// them as facts of a target. Sizes are marked with Moves. Variables that change
// by themselves (clocks, connection ids) are excluded.
func (s *Server) All(ctx context.Context, target string, schemas ...string) ([]iikanji.Fact, []SizedTable, error) {
	vars, err := s.Variables(ctx)
	if err != nil {
		return nil, nil, err
	}
	out := []iikanji.Fact{fact.TopicDialect.Fact(target, "version", s.dialect, false)}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if !moving[name] {
			out = append(out, fact.TopicVariable.Fact(target, name, vars[name], false))
		}
	}
	var tables []SizedTable
	for _, schema := range schemas {
		more, err := s.Tables(ctx, schema)
		if err != nil {
			return nil, nil, err
		}
		tables = append(tables, more...)
	}
	for _, t := range tables {
		out = append(out, TableFacts(target, t)...)
	}
	return out, tables, nil
}

// moving are variables that depend on the session or the clock.
var moving = map[string]bool{"timestamp": true, "pseudo_thread_id": true, "rand_seed1": true, "rand_seed2": true, "last_insert_id": true,
	"insert_id": true, "identity": true, "error_count": true, "warning_count": true, "in_transaction": true, "gtid_binlog_pos": true,
	"gtid_binlog_state": true, "gtid_current_pos": true, "server_uid": true, "last_gtid": true}

// TableFacts are the facts of one table: its definition, and its size, which has
// Moves set.
func TableFacts(target string, t SizedTable) []iikanji.Fact {
	key := t.Schema + "." + t.Name
	// Further columns may be counted later.
	t.Size.Distinct, t.Size.Held, t.Size.Lengths = maps.Clone(t.Size.Distinct), maps.Clone(t.Size.Held), maps.Clone(t.Size.Lengths)
	return []iikanji.Fact{
		fact.TopicTable.Fact(target, key, t.Table, false),
		fact.TopicSize.Fact(target, key, t.Size, true),
	}
}

// SelectivityFacts are the facts of the measured selectivities of predicates on a
// table.
func SelectivityFacts(target string, t SizedTable, shares map[string]float64) []iikanji.Fact {
	var out []iikanji.Fact
	for _, p := range slices.Sorted(maps.Keys(shares)) {
		out = append(out, fact.TopicSelectivity.Fact(target, fact.SelectivityKey(t.Schema, t.Name, p), significant(shares[p], 6), true))
	}
	return out
}

// significant is a number with some significant digits: more of them are noise.
func significant(x float64, digits int) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64)
	if err != nil {
		return x
	}
	return rounded
}

// QueryPlanFact is the fact of a query plan of one digest.
func QueryPlanFact(target, digest string, p catalog.QueryPlan) iikanji.Fact {
	return fact.TopicPlan.Fact(target, digest, p, true)
}

// StatusFacts are the increases of counters between two readings of
// [Server.Status]. Counters that did not increase have no fact.
func StatusFacts(target string, before, after map[string]string) []iikanji.Fact {
	var out []iikanji.Fact
	for _, name := range slices.Sorted(maps.Keys(after)) {
		b, err1 := strconv.ParseFloat(before[name], 64)
		a, err2 := strconv.ParseFloat(after[name], 64)
		if err1 == nil && err2 == nil && a > b {
			out = append(out, fact.TopicStatus.Fact(target, name, a-b, true))
		}
	}
	return out
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
