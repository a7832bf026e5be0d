// Package people knows who takes part in contests: sign-up of teams, invitations, the waiting
// list, people who look for a team, and the acts of staff on all of them.
//
//  1. [Service.SignUp] makes a team within the limits of the contest file (signup.go). A team
//     without a place waits; a place that becomes free goes to the first one (places.go).
//  2. [Service.Invite] makes a link, [Service.Accept] joins by it; leaving, removing, handing
//     over, changing and withdrawing are in team.go.
//  3. [Service.Applied] and [Service.Decide] are for staff (desk.go); [Service.Draw] makes teams
//     of people without one (draw.go).
//
// Each act is one transaction with its event and its line in the audit log. Secrets are kept as
// digests. Names, answers and texts are from outside: they are cleaned and bounded here, and
// escaped where they are shown.
package people
