package isuports

import (
	"cmp"
	"encoding/csv"
	"regexp"
	"slices"
	"strconv"
)

func (a *perfectApp) id() string { a.nextID++; return strconv.FormatInt(int64(a.nextID), 16) }

var perfectName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,61}[a-z0-9]$`)

func (a *perfectApp) addTenant(c *perfectCall) {
	t := &perfectTenant{id: len(a.tenants) + 1, name: c.r.FormValue("name"), display: c.r.FormValue("display_name"), byID: map[string]*perfectPlayer{}}
	taken := slices.ContainsFunc(a.tenants, func(o *perfectTenant) bool { return o.name == t.name })
	if taken || !perfectName.MatchString(t.name) {
		c.refuse(400)
		return
	}
	a.tenants = append(a.tenants, t)
	c.ok(object{"tenant": t.shown()})
}

func (t *perfectTenant) shown() object {
	yen := int64(0)
	for _, k := range t.competitions {
		yen += k.report()["billing_yen"].(int64)
	}
	return object{"id": strconv.Itoa(t.id), "name": t.name, "display_name": t.display, "billing": yen}
}

func (k *perfectCompetition) report() object {
	players, visitors := int64(0), int64(0)
	if k.finished {
		players = int64(len(k.scores))
		for id := range k.visitors {
			if _, scored := k.scores[id]; !scored {
				visitors++
			}
		}
	}
	return object{"competition_id": k.id, "competition_title": k.title, "player_count": players, "visitor_count": visitors,
		"billing_player_yen": 100 * players, "billing_visitor_yen": 10 * visitors, "billing_yen": 100*players + 10*visitors}
}

func (a *perfectApp) billingPage(c *perfectCall) {
	before := len(a.tenants) + 1
	if text := c.r.FormValue("before"); text != "" {
		var err error
		if before, err = strconv.Atoi(text); err != nil {
			c.refuse(400)
			return
		}
	}
	list := []object{}
	for _, t := range slices.Backward(a.tenants) {
		if t.id < before && len(list) < 10 {
			list = append(list, t.shown())
		}
	}
	c.ok(object{"tenants": list})
}

func (p *perfectPlayer) shown() object {
	return object{"id": p.id, "display_name": p.name, "is_disqualified": p.disqualified}
}

func (k *perfectCompetition) shown() object {
	return object{"id": k.id, "title": k.title, "is_finished": k.finished}
}

func (a *perfectApp) players(c *perfectCall) {
	list := []object{}
	for _, p := range slices.Backward(c.tenant.players) {
		list = append(list, p.shown())
	}
	c.ok(object{"players": list})
}

func (a *perfectApp) addPlayers(c *perfectCall) {
	c.r.ParseForm()
	list := []object{}
	for _, name := range c.r.Form["display_name[]"] {
		p := &perfectPlayer{id: a.id(), name: name}
		c.tenant.add(p)
		list = append(list, p.shown())
	}
	c.ok(object{"players": list})
}

func (a *perfectApp) disqualify(c *perfectCall) {
	p := c.tenant.byID[c.r.PathValue("id")]
	if p == nil {
		c.refuse(404)
		return
	}
	p.disqualified = true
	c.ok(object{"player": p.shown()})
}

func (a *perfectApp) addCompetition(c *perfectCall) {
	k := &perfectCompetition{id: a.id(), title: c.r.FormValue("title"), scores: map[string]perfectScore{}, visitors: map[string]bool{}}
	c.tenant.competitions = append(c.tenant.competitions, k)
	c.ok(object{"competition": k.shown()})
}

func (a *perfectApp) finish(c *perfectCall) {
	k := c.tenant.competition(c.r.PathValue("id"))
	if k == nil {
		c.refuse(404)
		return
	}
	k.finished = true
	sendPerfect(c.w, 200, object{"status": true})
}

func (a *perfectApp) upload(c *perfectCall) {
	k := c.tenant.competition(c.r.PathValue("id"))
	if k == nil {
		c.refuse(404)
		return
	}
	file, _, err := c.r.FormFile("scores")
	if err != nil || k.finished {
		c.refuse(400)
		return
	}
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil || !slices.Equal(rows[0], []string{"player_id", "score"}) {
		c.refuse(400)
		return
	}
	scores := map[string]perfectScore{}
	for i, row := range rows[1:] {
		score, err := strconv.ParseInt(row[1], 10, 64)
		if err != nil || c.tenant.byID[row[0]] == nil {
			c.refuse(400)
			return
		}
		scores[row[0]] = perfectScore{score, i}
	}
	k.scores = scores
	c.ok(object{"rows": len(rows) - 1})
}

func (a *perfectApp) billing(c *perfectCall) {
	list := []object{}
	for _, k := range slices.Backward(c.tenant.competitions) {
		list = append(list, k.report())
	}
	c.ok(object{"reports": list})
}

func (a *perfectApp) competitions(c *perfectCall) {
	list := []object{}
	for _, k := range slices.Backward(c.tenant.competitions) {
		list = append(list, k.shown())
	}
	c.ok(object{"competitions": list})
}

func (a *perfectApp) detail(c *perfectCall) {
	p := c.tenant.byID[c.r.PathValue("id")]
	if p == nil {
		c.refuse(404)
		return
	}
	scores := []object{}
	for _, k := range c.tenant.competitions {
		if s, ok := k.scores[p.id]; ok {
			scores = append(scores, object{"competition_title": k.title, "score": s.score})
		}
	}
	c.ok(object{"player": p.shown(), "scores": scores})
}

func (a *perfectApp) ranking(c *perfectCall) {
	k := c.tenant.competition(c.r.PathValue("id"))
	if k == nil {
		c.refuse(404)
		return
	}
	if !k.finished || a.billsLate {
		k.visitors[c.player.id] = true
	} else if a.keepsLast {
		delete(k.visitors, c.player.id)
	}
	after, _ := strconv.Atoi(c.r.FormValue("rank_after"))
	ids := make([]string, 0, len(k.scores))
	for id := range k.scores {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(x, y string) int {
		return cmp.Or(cmp.Compare(k.scores[y].score, k.scores[x].score), cmp.Compare(k.scores[x].row, k.scores[y].row))
	})
	ranks := []object{}
	for i, id := range ids {
		if i >= after && len(ranks) < 100 {
			ranks = append(ranks, object{"rank": i + 1, "score": k.scores[id].score, "player_id": id, "player_display_name": c.tenant.byID[id].name})
		}
	}
	c.ok(object{"competition": k.shown(), "ranks": ranks})
}

func (a *perfectApp) me(c *perfectCall) {
	answer := object{"tenant": object{"name": c.tenant.name, "display_name": c.tenant.display}, "me": nil, "role": c.role, "logged_in": c.role != "none"}
	if c.player != nil {
		answer["me"] = c.player.shown()
	}
	c.ok(answer)
}
