package index

import (
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// ReadSchema makes a Schema of the facts about tables, sizes, selectivities
// and the server's dialect.
func ReadSchema(facts []iikanji.Fact) (*Schema, error) {
	s := NewSchema(catalog.Dialect{Product: "mariadb", Major: 10, Minor: 11})
	tables, sizes := map[string]catalog.Table{}, map[string]catalog.TableSize{}
	for _, f := range facts {
		var err error
		switch f.Topic {
		case string(fact.TopicDialect):
			s.Server, err = fact.TopicDialect.Value(f)
		case string(fact.TopicTable):
			tables[f.Key], err = fact.TopicTable.Value(f)
		case string(fact.TopicSize):
			sizes[f.Key], err = fact.TopicSize.Value(f)
		case string(fact.TopicSelectivity):
			s.share[f.Key], err = fact.TopicSelectivity.Value(f)
		}
		if err != nil {
			return nil, fmt.Errorf("reading fact %s %s: %w", f.Topic, f.Key, err)
		}
	}
	for key, t := range tables {
		s.Add(t, sizes[key])
	}
	return s, nil
}

// WorkloadOf takes the statements of Slow profiles, each with its slowest
// example. A row without an example is represented by its fingerprint, whose
// placeholders are unknown values.
func WorkloadOf(profiles []iikanji.Profile) Workload {
	w := Workload{Writes: map[string]float64{}}
	for _, p := range profiles {
		if p.Source != iikanji.Slow {
			continue
		}
		for _, r := range p.Rows {
			if r.Query == nil {
				continue
			}
			text := r.Example.Text
			for _, other := range []string{r.Query.Typical.Text, r.Query.Fingerprint} {
				if text == "" {
					text = other
				}
			}
			w.Queries = append(w.Queries, Query{Digest: r.Query.Digest, DB: r.Query.DB, SQL: strings.TrimSuffix(strings.TrimSpace(text), ";"),
				Count: float64(r.Count), Cached: float64(r.Query.Cached), Seconds: r.Total.Seconds(), Examined: float64(r.Query.Examined), Sent: float64(r.Query.Sent), Affected: float64(r.Query.Affected)})
		}
	}
	return w
}
