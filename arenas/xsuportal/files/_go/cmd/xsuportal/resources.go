package main

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"
	"google.golang.org/protobuf/types/known/timestamppb"

	"xsuportal"
	"xsuportal/proto/resources"
)

func makeContestantPB(c *xsuportal.Contestant) *resources.Contestant {
	return &resources.Contestant{
		Id:        c.ID,
		TeamId:    c.TeamID.Int64,
		Name:      c.Name.String,
		IsStudent: c.Student,
		IsStaff:   c.Staff,
	}
}

func makeContestPB(db sqlx.Queryer) (*resources.Contest, error) {
	s, err := getCurrentContestStatus(db)
	if err != nil {
		return nil, err
	}
	return &resources.Contest{
		RegistrationOpenAt: timestamppb.New(s.RegistrationOpenAt),
		ContestStartsAt:    timestamppb.New(s.ContestStartsAt),
		ContestFreezesAt:   timestamppb.New(s.ContestFreezesAt),
		ContestEndsAt:      timestamppb.New(s.ContestEndsAt),
		Status:             resources.Contest_Status(s.Status),
		Frozen:             s.Frozen,
	}, nil
}

// makeTeamPB makes a team with what its members alone may see (detail), and with its members.
func makeTeamPB(db sqlx.Queryer, t *xsuportal.Team, detail, enableMembers bool) (*resources.Team, error) {
	team := &resources.Team{
		Id:        t.ID,
		Name:      t.Name,
		LeaderId:  t.LeaderID.String,
		Withdrawn: t.Withdrawn,
	}
	if detail {
		team.Detail = &resources.Team_TeamDetail{EmailAddress: t.EmailAddress, InviteToken: t.InviteToken}
	}
	if !enableMembers {
		return team, nil
	}
	if t.LeaderID.Valid {
		var leader xsuportal.Contestant
		err := sqlx.Get(db, &leader, "SELECT * FROM `contestants` WHERE `id` = ? LIMIT 1", t.LeaderID.String)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, fmt.Errorf("reading the leader of team %d: %w", t.ID, err)
		}
		if err == nil {
			team.Leader = makeContestantPB(&leader)
		}
	}
	var members []xsuportal.Contestant
	err := sqlx.Select(db, &members, "SELECT * FROM `contestants` WHERE `team_id` = ? ORDER BY `created_at`", t.ID)
	if err != nil {
		return nil, fmt.Errorf("reading the members of team %d: %w", t.ID, err)
	}
	for i := range members {
		team.Members = append(team.Members, makeContestantPB(&members[i]))
		team.MemberIds = append(team.MemberIds, members[i].ID)
	}
	return team, nil
}

func makeBenchmarkJobPB(job *xsuportal.BenchmarkJob) *resources.BenchmarkJob {
	return &resources.BenchmarkJob{
		Id:             job.ID,
		TeamId:         job.TeamID,
		Status:         resources.BenchmarkJob_Status(job.Status),
		TargetHostname: job.TargetHostName,
		CreatedAt:      timestamppb.New(job.CreatedAt),
		UpdatedAt:      timestamppb.New(job.UpdatedAt),
		StartedAt:      toTimestamp(job.StartedAt),
		FinishedAt:     toTimestamp(job.FinishedAt),
		Result:         makeBenchmarkResultPB(job),
	}
}

func makeBenchmarkResultPB(job *xsuportal.BenchmarkJob) *resources.BenchmarkResult {
	if !job.FinishedAt.Valid {
		return nil
	}
	return &resources.BenchmarkResult{
		Finished: true,
		Passed:   job.Passed.Bool,
		Score:    job.ScoreRaw.Int64 - job.ScoreDeduction.Int64,
		ScoreBreakdown: &resources.BenchmarkResult_ScoreBreakdown{
			Raw:       job.ScoreRaw.Int64,
			Deduction: job.ScoreDeduction.Int64,
		},
		Reason:   job.Reason.String,
		MarkedAt: timestamppb.New(job.FinishedAt.Time),
	}
}

func makeClarificationPB(db sqlx.Queryer, c *xsuportal.Clarification, t *xsuportal.Team) (*resources.Clarification, error) {
	team, err := makeTeamPB(db, t, false, true)
	if err != nil {
		return nil, err
	}
	return &resources.Clarification{
		Id:         c.ID,
		TeamId:     c.TeamID,
		Answered:   c.AnsweredAt.Valid,
		Disclosed:  c.Disclosed.Bool,
		Question:   c.Question.String,
		Answer:     c.Answer.String,
		CreatedAt:  timestamppb.New(c.CreatedAt),
		AnsweredAt: toTimestamp(c.AnsweredAt),
		Team:       team,
	}, nil
}
