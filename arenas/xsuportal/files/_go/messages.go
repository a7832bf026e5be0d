package xsuportal

// What people read in answers to requests that fail.
const (
	MsgLoginRequired    = "You need to log in."
	MsgTeamRequired     = "You need to register with a team."
	MsgStaffRequired    = "You need to be an administrator."
	MsgTeamFull         = "The team has as many members as it may have."
	MsgBadInvitation    = "The invitation is not valid."
	MsgWrongLogin       = "The ID or the password is wrong."
	MsgOutsideContest   = "This is not possible outside of the contest."
	MsgAlreadyRunning   = "A benchmark of the team is already running."
	MsgNoRegistration   = "This is not possible outside of the registration."
	MsgCapacityReached  = "There are as many teams as there may be."
	MsgIDTaken          = "The ID is taken already."
	MsgNotLoggedIn      = "You are not logged in."
	MsgNoSuchJob        = "There is no such benchmark."
	MsgNoSuchQuestion   = "There is no such question."
	MsgPushNotAvailable = "Web Push is not available."
	MsgInternal         = "Something went wrong."
)
