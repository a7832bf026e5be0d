package main

import (
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"xsuportal"
	audiencepb "xsuportal/proto/services/audience"
)

// getTeams lists all teams that have not withdrawn.
func getTeams(c echo.Context) error {
	var teams []xsuportal.Team
	if err := db.Select(&teams, "SELECT * FROM `teams` WHERE `withdrawn` = FALSE ORDER BY `created_at` DESC"); err != nil {
		return fmt.Errorf("reading the teams: %w", err)
	}
	answer := &audiencepb.ListTeamsResponse{}
	for _, team := range teams {
		var members []xsuportal.Contestant
		err := db.Select(&members, "SELECT * FROM `contestants` WHERE `team_id` = ? ORDER BY `created_at`", team.ID)
		if err != nil {
			return fmt.Errorf("reading the members of team %d: %w", team.ID, err)
		}
		item := &audiencepb.ListTeamsResponse_TeamListItem{TeamId: team.ID, Name: team.Name, IsStudent: true}
		for _, member := range members {
			item.MemberNames = append(item.MemberNames, member.Name.String)
			item.IsStudent = item.IsStudent && member.Student
		}
		answer.Teams = append(answer.Teams, item)
	}
	return writeProto(c, http.StatusOK, answer)
}

// getAudienceDashboard answers the leaderboard as everyone sees it.
func getAudienceDashboard(c echo.Context) error {
	leaderboard, err := makeLeaderboardPB(0)
	if err != nil {
		return err
	}
	return writeProto(c, http.StatusOK, &audiencepb.DashboardResponse{Leaderboard: leaderboard})
}
