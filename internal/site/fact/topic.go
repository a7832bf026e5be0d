// Package fact has the topics of facts with the Go types of their values, and the types
// that only facts have. It is pure: package facts reads them from machines.
package fact

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/iikanji/iikanji"
)

// A Topic is the topic of facts whose values have the type T. In a Fact, as in a history,
// the value is text: JSON, or the text itself if T is a string.
type Topic[T any] string

// Topics and the types of their values. A topic that is not here has no type yet: its
// value is decoded where it is used.
const (
	TopicTable   Topic[iikanji.Table]     = iikanji.TopicTable
	TopicSize    Topic[iikanji.TableSize] = iikanji.TopicSize
	TopicDialect Topic[iikanji.Dialect]   = iikanji.TopicDialect
	TopicPlan    Topic[iikanji.QueryPlan] = iikanji.TopicQueryPlan

	TopicFileGroup Topic[iikanji.FileGroup] = iikanji.TopicFileGroup

	TopicCode       Topic[iikanji.CodePlace]     = iikanji.TopicCode
	TopicHandler    Topic[iikanji.Handler]       = iikanji.TopicHandler
	TopicHot        Topic[iikanji.HotFunction]   = iikanji.TopicHot
	TopicSends      Topic[iikanji.SentStatement] = iikanji.TopicSends
	TopicQueryCache Topic[iikanji.QueryCache]    = iikanji.TopicQueryCache

	TopicListen     Topic[iikanji.Listener]    = iikanji.TopicListen
	TopicConnection Topic[iikanji.Connections] = iikanji.TopicConnection
	TopicAnswer     Topic[iikanji.Answer]      = iikanji.TopicAnswer
	TopicAgent      Topic[iikanji.AgentUse]    = iikanji.TopicAgent
	TopicValue      Topic[iikanji.StoredValue] = iikanji.TopicValue
	TopicSeries     Topic[iikanji.Series]      = iikanji.TopicSeries
	TopicKept       Topic[iikanji.KeptPages]   = iikanji.TopicKept
)

// A typed is a topic of any type.
type typed interface {
	name() string
	check(iikanji.Fact) error
}

// typedTopics are all topics with a type.
func typedTopics() []typed {
	return []typed{TopicTable, TopicSize, TopicDialect, TopicPlan, TopicFileGroup, TopicCode, TopicHandler, TopicHot, TopicSends, TopicQueryCache,
		TopicListen, TopicConnection, TopicAnswer, TopicAgent, TopicValue, TopicSeries, TopicKept,
		TopicInnoDB, TopicLockWait, TopicDeadlock, TopicUnit, TopicReady, TopicWorkers}
}

func (t Topic[T]) name() string { return string(t) }

func (t Topic[T]) check(f iikanji.Fact) error {
	_, err := t.Value(f)
	return err
}

// Is reports whether a fact has the topic.
func (t Topic[T]) Is(f iikanji.Fact) bool { return f.Topic == string(t) }

// Fact is a fact of the topic. A value that moves changes by itself.
func (t Topic[T]) Fact(target, key string, value T, moves bool) iikanji.Fact {
	f := iikanji.Fact{Target: target, Topic: string(t), Key: key, Moves: moves}
	if text, ok := any(value).(string); ok {
		f.Value = text
		return f
	}
	b, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("BUG: a fact of topic %s, %s: %v", t, key, err))
	}
	f.Value = string(b)
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
	if value, err = iikanji.DataOf[T](f); err != nil {
		return value, fmt.Errorf("%s: %w", f.Target, err)
	}
	return value, nil
}

// In yields the facts of the topic with their values, in order. The facts were checked when
// they came into the process ([Check]), so it passes over no other ones.
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

// Check returns an error for each fact whose value is not of its topic's type: as one of a
// history that was edited, or that another version wrote.
func Check(facts []iikanji.Fact) error {
	topics := map[string]typed{}
	for _, t := range typedTopics() {
		topics[t.name()] = t
	}
	var errs []error
	for _, f := range facts {
		if t := topics[f.Topic]; t != nil {
			errs = append(errs, t.check(f))
		}
	}
	return errors.Join(errs...)
}
