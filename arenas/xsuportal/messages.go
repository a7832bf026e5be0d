package xsuportal

// What the app has to say in eight cases: the checks compare these texts. The app has the
// same in messages.go.
const (
	msgLoginRequired  = "You need to log in."
	msgTeamRequired   = "You need to register with a team."
	msgStaffRequired  = "You need to be an administrator."
	msgTeamFull       = "The team has as many members as it may have."
	msgBadInvitation  = "The invitation is not valid."
	msgWrongLogin     = "The ID or the password is wrong."
	msgOutsideContest = "This is not possible outside of the contest."
	msgAlreadyRunning = "A benchmark of the team is already running."
)
