package xsuportal

import (
	"context"
	"fmt"
	"net/http"

	"github.com/iikanji/iikanji/arenas/xsuportal/pb/resources"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/contestant"
)

const (
	inboxSize = 256
	// mostSeen is how many notifications a member remembers, to recognize them.
	mostSeen = 256
)

// A notice is a notification for a member, from either way.
type notice = *resources.Notification

// startWatching has a member of a team watch its notifications: always by polling, and by Web
// Push too where the target had a key when the account was made.
func (ct *contest) startWatching(m *member, key string) {
	if key != "" {
		// The messages come for as long as the phase takes.
		ct.s.Go("subscribing", func(ctx context.Context) { ct.s.Report(ct.subscribe(ctx, m, key)) })
	}
	ct.s.Go("notifications of a member", ct.player(m.pollLoop))
	ct.s.Go("events of a member", ct.player(m.eventLoop))
}

// pollLoop looks for notifications.
func (m *member) pollLoop(ctx context.Context) {
	ct := m.agent.ct
	for ct.pause(ctx, ct.rules.poll) {
		m.mu.Lock()
		after := m.last
		m.mu.Unlock()
		path := "/api/contestant/notifications"
		if after > 0 {
			path += fmt.Sprintf("?after=%d", after)
		}
		out := new(contestant.ListNotificationsResponse)
		if err := m.agent.call(ctx, stepNotifications, http.MethodGet, path, nil, out); err != nil {
			ct.s.Report(err)
			continue
		}
		if err := m.checkList(out, after); err != nil {
			ct.s.Report(err)
			continue
		}
		for _, n := range out.GetNotifications() {
			m.receive(ctx, n)
		}
	}
}

// checkList checks the form of a list of notifications.
func (m *member) checkList(out *contestant.ListNotificationsResponse, after int64) error {
	for _, n := range out.GetNotifications() {
		if n.GetId() <= after {
			return wrong(stepNotifications, "notifications-order", "notification %d of %s is not behind %d", n.GetId(), m.id, after)
		}
		after = n.GetId()
		if n.GetCreatedAt() == nil || n.GetContent() == nil {
			return wrong(stepNotifications, "notification-fields", "notification %v of %s", n, m.id)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if got := out.GetLastAnsweredClarificationId(); got < m.answered {
		return wrong(stepNotifications, "notifications-answered", "the last answered question of %s is %d, it was %d before", m.id, got, m.answered)
	}
	m.answered = out.GetLastAnsweredClarificationId()
	return nil
}

// receive takes a notification once.
func (m *member) receive(ctx context.Context, n notice) {
	m.mu.Lock()
	known := m.seen[n.GetId()]
	if !known {
		m.seen[n.GetId()] = true
		if m.order = append(m.order, n.GetId()); len(m.order) > mostSeen {
			delete(m.seen, m.order[0])
			m.order = m.order[1:]
		}
		m.last = max(m.last, n.GetId())
	}
	m.mu.Unlock()
	if known {
		return
	}
	if c := n.GetContentClarification(); c != nil {
		m.agent.ct.locked(func() { m.team.heard[c.GetClarificationId()] = true })
	}
	select {
	case m.inbox <- n:
	case <-ctx.Done():
	}
}

// eventLoop handles the notifications of a member, one at a time. The developer looks at
// benchmarks, the leader at answers.
func (m *member) eventLoop(ctx context.Context) {
	ct := m.agent.ct
	for {
		select {
		case <-ctx.Done():
			return
		case n := <-m.inbox:
			switch t := m.team; {
			case n.GetContentBenchmarkJob() != nil && m == t.developer():
				ct.s.Report(m.jobDone(ctx, n.GetContentBenchmarkJob().GetBenchmarkJobId()))
			case n.GetContentClarification() != nil && m == t.leader():
				ct.s.Report(m.questionAnswered(ctx, n.GetContentClarification()))
			}
		}
	}
}
