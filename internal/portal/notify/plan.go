package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// A Notice is what is sent: the body of a webhook, and what mail and push are made of.
type Notice struct {
	ID    string    `json:"id"`
	Kind  string    `json:"kind"`
	Round string    `json:"round,omitempty"`
	At    time.Time `json:"at"`
	Title string    `json:"title"`
	Text  string    `json:"text,omitempty"`
	URL   string    `json:"url"`
}

// A subscriber is a subscription with its account.
type subscriber struct {
	id, account, channel, address, body, kinds, lang, team string
	role                                                   api.Role
}

// subscribers reads subscriptions; team is that of the contest in the condition, if it names one.
func subscribers(tx *store.Tx, where string, args ...any) (out []subscriber, err error) {
	err = tx.Each("SELECT s.id, s.account, s.channel, s.address, s.body, s.kinds, COALESCE(c.lang, ''), a.role FROM subscriptions s JOIN accounts a ON a.id = s.account LEFT JOIN contacts c ON c.account = s.account "+where+" ORDER BY s.id", args, func(scan func(...any) error) error {
		x, role := subscriber{}, ""
		err := scan(&x.id, &x.account, &x.channel, &x.address, &x.body, &x.kinds, &x.lang, &role)
		x.role = api.Role(role)
		out = append(out, x)
		return err
	})
	return out, err
}

// Plan writes the deliveries of events that were not planned yet.
func (s *Service) Plan(ctx context.Context) error {
	ids, err := s.o.Core.RoundIDs(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		for {
			last, events := int64(0), []lead.Event(nil)
			err := s.o.Core.Read(ctx, func(tx *store.Tx) error {
				err := tx.Row("SELECT number FROM notified WHERE round = ?", []any{id}, &last)
				if errors.Is(err, store.ErrNone) {
					err = nil
				}
				return err
			})
			if err != nil {
				return err
			}
			if events, err = s.o.Core.EventsAfter(ctx, id, last); err != nil {
				return err
			}
			if len(events) == 0 {
				break
			}
			if err := s.plan(ctx, id, last, events); err != nil {
				return err
			}
		}
	}
	return nil
}

// plan writes the deliveries of some events with the number of the last one, unless another
// process did.
func (s *Service) plan(ctx context.Context, id string, last int64, events []lead.Event) error {
	return s.o.Core.Write(ctx, "plan", func(tx *store.Tx) error {
		to := events[len(events)-1].Number
		n, err := tx.Exec("UPDATE notified SET number = ? WHERE round = ? AND number = ?", to, id, last)
		if err != nil {
			return err
		}
		if n == 0 && last > 0 {
			return nil
		}
		if n == 0 {
			if _, err := tx.Exec("INSERT INTO notified (round, number) VALUES (?, ?)", id, to); err != nil {
				if store.IsDuplicate(err) {
					return nil
				}
				return err
			}
		}
		all, err := s.readers(tx, id)
		if err != nil {
			return err
		}
		for _, e := range events {
			if err := s.event(tx, id, e, all); err != nil {
				return err
			}
		}
		return nil
	})
}

// readers are the subscribers of a round: members of its contest with their teams, and staff.
// Members whose mail address is known get what always reaches mail without a subscription.
func (s *Service) readers(tx *store.Tx, round string) ([]subscriber, error) {
	contestID, _, _ := strings.Cut(round, "_")
	teams := map[string]string{}
	err := tx.Each("SELECT account, team FROM members WHERE contest = ?", []any{contestID}, func(scan func(...any) error) error {
		account, team := "", ""
		err := scan(&account, &team)
		teams[account] = team
		return err
	})
	if err != nil {
		return nil, err
	}
	all, err := subscribers(tx, "")
	if err != nil {
		return nil, err
	}
	mailed := map[string]bool{}
	for i := range all {
		all[i].team = teams[all[i].account]
		mailed[all[i].account] = mailed[all[i].account] || all[i].channel == channelMail
	}
	all = slices.DeleteFunc(all, func(x subscriber) bool { return x.team == "" && !x.role.Staff() })
	if s.o.Mail == nil {
		return all, nil
	}
	err = tx.Each("SELECT account, mail, lang FROM contacts", nil, func(scan func(...any) error) error {
		x := subscriber{channel: channelMail, kinds: KindClock + " " + KindTeam}
		err := scan(&x.account, &x.address, &x.lang)
		x.id, x.team = "mail-"+x.account, teams[x.account]
		if x.team != "" && !mailed[x.account] {
			all = append(all, x)
		}
		return err
	})
	return all, err
}

// event writes the deliveries of one event.
func (s *Service) event(tx *store.Tx, round string, e lead.Event, all []subscriber) error {
	if s.o.Core.Now().Sub(e.At) > giveUp {
		return nil
	}
	n := Notice{ID: fmt.Sprintf("%s/%d", round, e.Number), Round: round, At: e.At, URL: s.o.Base + "/r/" + round + "/questions"}
	for _, x := range all {
		said, ok := s.notice(n, e, x)
		if !ok || !slices.Contains(strings.Fields(x.kinds), said.Kind) && !always(said, x) {
			continue
		}
		if err := s.deliver(tx, n.ID, x, said); err != nil {
			return err
		}
	}
	return nil
}

// always reports whether a notice reaches mail whatever a person chose: acts on the clock and
// another state of the own team.
func always(n Notice, x subscriber) bool {
	return x.channel == channelMail && (n.Kind == KindClock || n.Kind == KindTeam)
}

// notice is what a reader is told of an event; ok is false for nothing.
func (s *Service) notice(n Notice, e lead.Event, x subscriber) (_ Notice, ok bool) {
	own := x.team != "" && x.team == e.Team
	switch e.Kind {
	case lead.KindMessage:
		var m api.Message
		if json.Unmarshal(e.Body, &m) != nil {
			return n, false
		}
		who := api.Who{Account: x.account, Team: x.team, Role: api.Member}
		if x.role.Staff() {
			who.Role = x.role
		}
		shown, ok := m.For(who, e.At)
		if !ok || m.Kind == "question" && !x.role.Staff() || m.Kind == "answer" && x.role.Staff() {
			return n, false
		}
		n.Kind, n.Title, n.Text = KindMessage, word(x.lang, m.Kind), shown.Text
		if x.role.Staff() {
			n.URL = s.o.Base + "/staff/" + n.Round
		}
		return n, true
	case lead.KindClock:
		var a contest.Act
		if json.Unmarshal(e.Body, &a) != nil || a.Kind == "" || e.Team != "" && !own && !x.role.Staff() {
			return n, false
		}
		n.Kind, n.Title, n.Text, n.URL = KindClock, word(x.lang, "clock"), word(x.lang, string(a.Kind))+": "+a.Reason, s.o.Base+"/r/"+n.Round
		return n, true
	case lead.KindTeam:
		var t lead.TeamEvent
		contestID, _, _ := strings.Cut(n.Round, "_")
		if json.Unmarshal(e.Body, &t) != nil || t == (lead.TeamEvent{}) || !own {
			return n, false
		}
		n.Kind, n.Title, n.Text, n.URL = KindTeam, word(x.lang, "team"), word(x.lang, "team-"+t.To), s.o.Base+"/contests/"+contestID+"/join"
		if t.Reason != "" {
			n.Text += ": " + t.Reason
		}
		return n, true
	case lead.KindResult:
		var r lead.ResultEvent
		if json.Unmarshal(e.Body, &r) != nil || !own {
			return n, false
		}
		n.Kind, n.Title, n.URL = KindResult, word(x.lang, "result"), s.o.Base+"/r/"+n.Round+"/jobs/"+e.Job
		n.Text = fmt.Sprintf("%d: %s %.0f", r.Number, r.Outcome, r.Score)
		return n, true
	}
	return n, false
}

// deliver writes a delivery, once for a message and an address.
func (s *Service) deliver(tx *store.Tx, id string, x subscriber, n Notice) error {
	if n.Title == "" {
		n.Title = word(x.lang, n.Kind)
	}
	n.Title = line(n.Title, 100)
	body, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("writing a notice: %w", err)
	}
	have := 0
	if err := tx.Row("SELECT COUNT(*) FROM deliveries WHERE message = ? AND address = ?", []any{id, x.id}, &have); err != nil || have > 0 {
		return err
	}
	now := s.o.Core.Now()
	_, err = tx.Exec("INSERT INTO deliveries (message, address, account, kind, body, state, tries, due, created, why) VALUES (?, ?, ?, ?, ?, 'due', 0, ?, ?, '')", id, x.id, x.account, n.Kind, string(body), now, now)
	return err
}

// words are those of notices.
var words = map[string]map[string]string{
	"": {"announcement": "Announcement", "question": "A team asks", "answer": "Answer to a question", "clock": "The time table changed", "team": "Your team", "result": "Result of a run", "test": "This is a test notice",
		"shift": "the start moves", "pause": "pause", "resume": "the round goes on", "extend": "the end moves", "extra": "extra time", "reveal": "the results are shown",
		"team-": "it takes part", "team-asked": "it waits for staff", "team-waiting": "it is on the waiting list", "team-refused": "it was not admitted", "team-withdrawn": "it was withdrawn", "team-disqualified": "it was disqualified"},
	"ja": {"announcement": "お知らせ", "question": "チームからの質問", "answer": "質問への回答", "clock": "日程の変更", "team": "あなたのチーム", "result": "ベンチマークの結果", "test": "通知のテストです",
		"shift": "開始時刻の変更", "pause": "中断", "resume": "再開", "extend": "終了時刻の変更", "extra": "追加の時間", "reveal": "結果の公開",
		"team-": "参加が決まりました", "team-asked": "承認待ちです", "team-waiting": "キャンセル待ちです", "team-refused": "承認されませんでした", "team-withdrawn": "辞退になりました", "team-disqualified": "失格になりました"},
}

// word is a word in a person's language.
func word(lang, key string) string {
	if text, ok := words[lang][key]; ok {
		return text
	}
	return words[""][key]
}
