package xsuportal

import (
	"database/sql"
	"time"
)

// A Contestant is a row of contestants.
type Contestant struct {
	ID        string         `db:"id"`
	Password  string         `db:"password"`
	TeamID    sql.NullInt64  `db:"team_id"`
	Name      sql.NullString `db:"name"`
	Student   bool           `db:"student"`
	Staff     bool           `db:"staff"`
	CreatedAt time.Time      `db:"created_at"`
}

// A Team is a row of teams.
type Team struct {
	ID           int64          `db:"id"`
	Name         string         `db:"name"`
	LeaderID     sql.NullString `db:"leader_id"`
	EmailAddress string         `db:"email_address"`
	InviteToken  string         `db:"invite_token"`
	Withdrawn    bool           `db:"withdrawn"`
	CreatedAt    time.Time      `db:"created_at"`
}

// A BenchmarkJob is a row of benchmark_jobs.
type BenchmarkJob struct {
	ID             int64          `db:"id"`
	TeamID         int64          `db:"team_id"`
	Status         int            `db:"status"`
	TargetHostName string         `db:"target_hostname"`
	Handle         sql.NullString `db:"handle"`
	ScoreRaw       sql.NullInt64  `db:"score_raw"`
	ScoreDeduction sql.NullInt64  `db:"score_deduction"`
	Reason         sql.NullString `db:"reason"`
	Passed         sql.NullBool   `db:"passed"`
	StartedAt      sql.NullTime   `db:"started_at"`
	FinishedAt     sql.NullTime   `db:"finished_at"`
	CreatedAt      time.Time      `db:"created_at"`
	UpdatedAt      time.Time      `db:"updated_at"`
}

// A Clarification is a row of clarifications.
type Clarification struct {
	ID         int64          `db:"id"`
	TeamID     int64          `db:"team_id"`
	Disclosed  sql.NullBool   `db:"disclosed"`
	Question   sql.NullString `db:"question"`
	Answer     sql.NullString `db:"answer"`
	AnsweredAt sql.NullTime   `db:"answered_at"`
	CreatedAt  time.Time      `db:"created_at"`
	UpdatedAt  time.Time      `db:"updated_at"`
}

// A Notification is a row of notifications. Its message is a protobuf in base64.
type Notification struct {
	ID             int64     `db:"id"`
	ContestantID   string    `db:"contestant_id"`
	Read           bool      `db:"read"`
	EncodedMessage string    `db:"encoded_message"`
	CreatedAt      time.Time `db:"created_at"`
	UpdatedAt      time.Time `db:"updated_at"`
}

// A PushSubscription is a row of push_subscriptions.
type PushSubscription struct {
	ID           int64     `db:"id"`
	ContestantID string    `db:"contestant_id"`
	Endpoint     string    `db:"endpoint"`
	P256DH       string    `db:"p256dh"`
	Auth         string    `db:"auth"`
	CreatedAt    time.Time `db:"created_at"`
	UpdatedAt    time.Time `db:"updated_at"`
}

// A ContestStatus is the row of contest_config with what the database's clock makes of it.
type ContestStatus struct {
	RegistrationOpenAt time.Time `db:"registration_open_at"`
	ContestStartsAt    time.Time `db:"contest_starts_at"`
	ContestFreezesAt   time.Time `db:"contest_freezes_at"`
	ContestEndsAt      time.Time `db:"contest_ends_at"`
	CurrentTime        time.Time `db:"current_time"`
	Status             int       `db:"status"`
	Frozen             bool      `db:"frozen"`
}
