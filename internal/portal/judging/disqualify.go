package judging

import (
	"errors"
	"time"
)

// A Disqualification takes a team out of the ranking. One staff member proposes it, another
// one confirms it; it is in force from then on until it is lifted.
type Disqualification struct {
	Team     string
	Rule     string // the number of the rule, as in "5.2"
	Public   string // what is announced
	Evidence string // for judges and operators only
	By       string
	At       time.Time
	// Confirmed is who confirmed it; "" if nobody did yet.
	Confirmed   string
	ConfirmedAt time.Time
	Appeal      time.Time // until when the team may appeal
	Lifted      time.Time // zero if it was not
	LiftedWhy   string
}

// Propose checks a new disqualification.
func Propose(d Disqualification) error {
	switch {
	case d.Team == "" || d.By == "":
		return errors.New("a disqualification names the team and its author")
	case d.Rule == "" || d.Public == "":
		return errors.New("a disqualification names the rule and has a text for the public")
	case d.Evidence == "":
		return errors.New("a disqualification needs evidence")
	case !d.Appeal.After(d.At):
		return errors.New("the deadline of an appeal is past")
	}
	return nil
}

// Confirm puts a disqualification in force.
func (d *Disqualification) Confirm(who string, at time.Time) error {
	switch {
	case d.Confirmed != "":
		return errors.New("it is confirmed already")
	case who == "" || who == d.By:
		return errors.New("another staff member has to confirm it")
	}
	d.Confirmed, d.ConfirmedAt = who, at
	return nil
}

// Lift ends a disqualification.
func (d *Disqualification) Lift(why string, at time.Time) error {
	if !d.InForce(at) {
		return errors.New("it is not in force")
	}
	if why == "" {
		return errors.New("lifting it needs a reason")
	}
	d.Lifted, d.LiftedWhy = at, why
	return nil
}

// InForce reports whether it takes the team out of the ranking at an instant.
func (d *Disqualification) InForce(at time.Time) bool {
	return d.Confirmed != "" && !at.Before(d.ConfirmedAt) && (d.Lifted.IsZero() || at.Before(d.Lifted))
}
