// Package portal is the wing of the contest portal: `iikanji portal`. It holds no code; this
// page says how its rooms call each other.
//
//	contest, board, queue, judging   pure: the file and its clock; ranks and visibility; the
//	                                 order of jobs; the final judging
//	api                              what a portal answers, and the interface Portal
//	  api/apitest                    that interface in memory, for tests of pages
//	store                            SQL on SQLite, MariaDB or PostgreSQL: the truth
//	carry                            streams and keys that may be lost: memory, or NATS inside
//	                                 the process, alone or one of three
//	lead                             the acts on the truth: enqueue, claim, beat, finish, clock;
//	                                 and the one leader: relay, dispatch, scan, timers
//	people                           who takes part: sign-up, invitations, the waiting list, draws
//	login                            passwords, authenticators, sign-in at other services
//	notify                           push, mail, webhooks and chats, derived from the events
//	export                           a contest as plain files, and back
//	fleet                            one profile of the logs of many hosts
//	worker                           a process that runs jobs, with its guard
//	sim                              a whole contest on a clock that jumps
//
// Calls go down only:
//
//	pages, routes → api.Portal → lead → store, carry
//	                           → board.Of(data, reader, now): the one function of visibility
//	worker → (HTTP) routes → lead
//
// A result's way: worker.deliver → spool → POST /worker/v1/finish → lead.Core.Finish: result, job
// and event in one transaction → Leader.Relay → carry.Events → each node folds the event
// (lead.History) → board.Of for each reader → one JSON for all who have the same view.
//
// What a page shows of a round comes from a board.View, or from a call of api.Portal that takes
// the caller (api.Who). No page reads the store.
package portal
