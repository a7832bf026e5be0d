package main

import (
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"xsuportal"
	"xsuportal/proto/resources"
	contestantpb "xsuportal/proto/services/contestant"
)

// getNotifications lists the caller's notifications behind one, the oldest first, and marks
// all as read.
func getNotifications(c echo.Context) error {
	if err := loginRequired(c, db, guard{team: true}); err != nil {
		return err
	}
	var after int64
	if text := c.QueryParam("after"); text != "" {
		var err error
		after, err = strconv.ParseInt(text, 10, 64)
		if err != nil {
			return halt(c, http.StatusBadRequest, "after is no number.", nil)
		}
	}
	contestant, err := getCurrentContestant(c, db, false)
	if err != nil {
		return err
	}
	team, err := getCurrentTeam(c, db, false)
	if err != nil {
		return err
	}

	tx, err := db.Beginx()
	if err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	defer tx.Rollback()
	var notifications []xsuportal.Notification
	if after != 0 {
		err = tx.Select(&notifications, "SELECT * FROM `notifications` WHERE `contestant_id` = ? AND `id` > ? ORDER BY `id`",
			contestant.ID, after)
	} else {
		err = tx.Select(&notifications, "SELECT * FROM `notifications` WHERE `contestant_id` = ? ORDER BY `id`", contestant.ID)
	}
	if err != nil {
		return fmt.Errorf("reading the notifications: %w", err)
	}
	_, err = tx.Exec("UPDATE `notifications` SET `read` = TRUE WHERE `contestant_id` = ? AND `read` = FALSE", contestant.ID)
	if err != nil {
		return fmt.Errorf("marking the notifications: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("committing: %w", err)
	}

	var lastAnswered int64
	err = db.Get(&lastAnswered, "SELECT `id` FROM `clarifications` WHERE (`team_id` = ? OR `disclosed` = TRUE)"+
		" AND `answered_at` IS NOT NULL ORDER BY `id` DESC LIMIT 1", team.ID)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("reading the last answer: %w", err)
	}
	list, err := makeNotificationsPB(notifications)
	if err != nil {
		return err
	}
	return writeProto(c, http.StatusOK, &contestantpb.ListNotificationsResponse{
		Notifications:               list,
		LastAnsweredClarificationId: lastAnswered,
	})
}

func makeNotificationsPB(notifications []xsuportal.Notification) ([]*resources.Notification, error) {
	var list []*resources.Notification
	for _, n := range notifications {
		text, err := base64.StdEncoding.DecodeString(n.EncodedMessage)
		if err != nil {
			return nil, fmt.Errorf("decoding notification %d: %w", n.ID, err)
		}
		var message resources.Notification
		if err := proto.Unmarshal(text, &message); err != nil {
			return nil, fmt.Errorf("decoding notification %d: %w", n.ID, err)
		}
		message.Id = n.ID
		message.CreatedAt = timestamppb.New(n.CreatedAt)
		list = append(list, &message)
	}
	return list, nil
}

// postPushSubscription stores a browser to which notifications may be pushed.
func postPushSubscription(c echo.Context) error {
	if err := loginRequired(c, db, guard{team: true}); err != nil {
		return err
	}
	if notifier.VAPIDKey() == nil {
		return halt(c, http.StatusServiceUnavailable, xsuportal.MsgPushNotAvailable, nil)
	}
	var request contestantpb.SubscribeNotificationRequest
	if err := readProto(c, &request); err != nil {
		return err
	}
	contestant, err := getCurrentContestant(c, db, false)
	if err != nil {
		return err
	}
	_, err = db.Exec("INSERT INTO `push_subscriptions` (`contestant_id`, `endpoint`, `p256dh`, `auth`, `created_at`, `updated_at`)"+
		" VALUES (?, ?, ?, ?, NOW(6), NOW(6))"+
		" ON DUPLICATE KEY UPDATE `p256dh` = VALUES(`p256dh`), `auth` = VALUES(`auth`), `updated_at` = NOW(6)",
		contestant.ID, request.GetEndpoint(), request.GetP256Dh(), request.GetAuth())
	if err != nil {
		return fmt.Errorf("storing the subscription: %w", err)
	}
	return writeProto(c, http.StatusOK, &contestantpb.SubscribeNotificationResponse{})
}

// deletePushSubscription forgets a browser.
func deletePushSubscription(c echo.Context) error {
	if err := loginRequired(c, db, guard{team: true}); err != nil {
		return err
	}
	if notifier.VAPIDKey() == nil {
		return halt(c, http.StatusServiceUnavailable, xsuportal.MsgPushNotAvailable, nil)
	}
	var request contestantpb.UnsubscribeNotificationRequest
	if err := readProto(c, &request); err != nil {
		return err
	}
	contestant, err := getCurrentContestant(c, db, false)
	if err != nil {
		return err
	}
	_, err = db.Exec("DELETE FROM `push_subscriptions` WHERE `contestant_id` = ? AND `endpoint` = ? LIMIT 1",
		contestant.ID, request.GetEndpoint())
	if err != nil {
		return fmt.Errorf("removing the subscription: %w", err)
	}
	return writeProto(c, http.StatusOK, &contestantpb.UnsubscribeNotificationResponse{})
}
