package main

import (
	"database/sql"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"xsuportal/proto/resources"
)

type leaderboardTeam struct {
	ID              int64          `db:"id"`
	Name            string         `db:"name"`
	LeaderID        sql.NullString `db:"leader_id"`
	Withdrawn       bool           `db:"withdrawn"`
	Student         sql.NullBool   `db:"student"`
	BestScore       sql.NullInt64  `db:"best_score"`
	BestStartedAt   sql.NullTime   `db:"best_score_started_at"`
	BestMarkedAt    sql.NullTime   `db:"best_score_marked_at"`
	LatestScore     sql.NullInt64  `db:"latest_score"`
	LatestStartedAt sql.NullTime   `db:"latest_score_started_at"`
	LatestMarkedAt  sql.NullTime   `db:"latest_score_marked_at"`
	FinishCount     sql.NullInt64  `db:"finish_count"`
}

type jobResult struct {
	TeamID     int64     `db:"team_id"`
	Score      int64     `db:"score"`
	StartedAt  time.Time `db:"started_at"`
	FinishedAt time.Time `db:"finished_at"`
}

// makeLeaderboardPB makes the leaderboard as a team sees it; 0 is the audience. From the
// freeze to the end of the contest, only the team's own jobs show after the freeze.
func makeLeaderboardPB(teamID int64) (*resources.Leaderboard, error) {
	contestStatus, err := getCurrentContestStatus(db)
	if err != nil {
		return nil, err
	}
	contestFinished := contestStatus.Status == int(resources.Contest_FINISHED)
	contestFreezesAt := contestStatus.ContestFreezesAt

	tx, err := db.Beginx()
	if err != nil {
		return nil, fmt.Errorf("beginning a transaction: %w", err)
	}
	defer tx.Rollback()

	const visible = " AND (`team_id` = ? OR ? = TRUE OR `finished_at` < ?)"
	var teams []leaderboardTeam
	query := "SELECT `teams`.`id` AS `id`, `teams`.`name` AS `name`, `teams`.`leader_id` AS `leader_id`," +
		" `teams`.`withdrawn` AS `withdrawn`, `team_student_flags`.`student` AS `student`," +
		" (`best_score_jobs`.`score_raw` - `best_score_jobs`.`score_deduction`) AS `best_score`," +
		" `best_score_jobs`.`started_at` AS `best_score_started_at`," +
		" `best_score_jobs`.`finished_at` AS `best_score_marked_at`," +
		" (`latest_score_jobs`.`score_raw` - `latest_score_jobs`.`score_deduction`) AS `latest_score`," +
		" `latest_score_jobs`.`started_at` AS `latest_score_started_at`," +
		" `latest_score_jobs`.`finished_at` AS `latest_score_marked_at`," +
		" `latest_score_job_ids`.`finish_count` AS `finish_count`" +
		" FROM `teams`" +
		// The latest job of each team.
		" LEFT JOIN (SELECT MAX(`id`) AS `id`, `team_id`, COUNT(*) AS `finish_count` FROM `benchmark_jobs`" +
		" WHERE `finished_at` IS NOT NULL" + visible + " GROUP BY `team_id`) `latest_score_job_ids`" +
		" ON `latest_score_job_ids`.`team_id` = `teams`.`id`" +
		" LEFT JOIN `benchmark_jobs` `latest_score_jobs` ON `latest_score_job_ids`.`id` = `latest_score_jobs`.`id`" +
		// The best job of each team; the newest of those with the same score.
		" LEFT JOIN (SELECT MAX(`j`.`id`) AS `id`, `j`.`team_id` AS `team_id` FROM `benchmark_jobs` `j`" +
		" INNER JOIN (SELECT `team_id`, MAX(`score_raw` - `score_deduction`) AS `score` FROM `benchmark_jobs`" +
		" WHERE `finished_at` IS NOT NULL" + visible + " GROUP BY `team_id`) `best_scores`" +
		" ON `j`.`team_id` = `best_scores`.`team_id` AND `best_scores`.`score` = `j`.`score_raw` - `j`.`score_deduction`" +
		" WHERE `j`.`finished_at` IS NOT NULL AND (`j`.`team_id` = ? OR ? = TRUE OR `j`.`finished_at` < ?)" +
		" GROUP BY `j`.`team_id`) `best_score_job_ids`" +
		" ON `best_score_job_ids`.`team_id` = `teams`.`id`" +
		" LEFT JOIN `benchmark_jobs` `best_score_jobs` ON `best_score_jobs`.`id` = `best_score_job_ids`.`id`" +
		// Whether all members are students.
		" LEFT JOIN (SELECT `team_id`, (SUM(`student`) = COUNT(*)) AS `student` FROM `contestants` GROUP BY `team_id`) `team_student_flags`" +
		" ON `team_student_flags`.`team_id` = `teams`.`id`" +
		" ORDER BY `latest_score` DESC, `latest_score_marked_at` ASC"
	err = tx.Select(&teams, query, teamID, contestFinished, contestFreezesAt, teamID, contestFinished, contestFreezesAt,
		teamID, contestFinished, contestFreezesAt)
	if err != nil {
		return nil, fmt.Errorf("reading the teams: %w", err)
	}

	var results []jobResult
	err = tx.Select(&results, "SELECT `team_id`, (`score_raw` - `score_deduction`) AS `score`, `started_at`, `finished_at`"+
		" FROM `benchmark_jobs` WHERE `started_at` IS NOT NULL AND `finished_at` IS NOT NULL AND `score_raw` IS NOT NULL"+
		visible+" ORDER BY `finished_at`", teamID, contestFinished, contestFreezesAt)
	if err != nil {
		return nil, fmt.Errorf("reading the scores: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return nil, fmt.Errorf("committing: %w", err)
	}

	scores := map[int64][]*resources.Leaderboard_LeaderboardItem_LeaderboardScore{}
	for _, r := range results {
		scores[r.TeamID] = append(scores[r.TeamID], &resources.Leaderboard_LeaderboardItem_LeaderboardScore{
			Score:     r.Score,
			StartedAt: timestamppb.New(r.StartedAt),
			MarkedAt:  timestamppb.New(r.FinishedAt),
		})
	}
	board := &resources.Leaderboard{}
	for i := range teams {
		item := makeLeaderboardItemPB(&teams[i], scores[teams[i].ID])
		if teams[i].Student.Valid && teams[i].Student.Bool {
			board.StudentTeams = append(board.StudentTeams, item)
		} else {
			board.GeneralTeams = append(board.GeneralTeams, item)
		}
		board.Teams = append(board.Teams, item)
	}
	return board, nil
}

func makeLeaderboardItemPB(t *leaderboardTeam, scores []*resources.Leaderboard_LeaderboardItem_LeaderboardScore) *resources.Leaderboard_LeaderboardItem {
	return &resources.Leaderboard_LeaderboardItem{
		Scores: scores,
		BestScore: &resources.Leaderboard_LeaderboardItem_LeaderboardScore{
			Score:     t.BestScore.Int64,
			StartedAt: toTimestamp(t.BestStartedAt),
			MarkedAt:  toTimestamp(t.BestMarkedAt),
		},
		LatestScore: &resources.Leaderboard_LeaderboardItem_LeaderboardScore{
			Score:     t.LatestScore.Int64,
			StartedAt: toTimestamp(t.LatestStartedAt),
			MarkedAt:  toTimestamp(t.LatestMarkedAt),
		},
		FinishCount: t.FinishCount.Int64,
		Team: &resources.Team{
			Id:        t.ID,
			Name:      t.Name,
			LeaderId:  t.LeaderID.String,
			Withdrawn: t.Withdrawn,
			Student:   &resources.Team_StudentStatus{Status: t.Student.Valid && t.Student.Bool},
		},
	}
}

func toTimestamp(t sql.NullTime) *timestamppb.Timestamp {
	if t.Valid {
		return timestamppb.New(t.Time)
	}
	return nil
}
