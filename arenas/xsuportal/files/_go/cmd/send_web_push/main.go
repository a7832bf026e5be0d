// Command send_web_push sends a test notification to the browsers of a contestant. It shows
// how a message has to be encoded.
//
//	go run ./cmd/send_web_push -c CONTESTANT -i VAPID_PRIVATE.pem
package main

import (
	"encoding/base64"
	"flag"
	"log"
	"math/rand/v2"

	"github.com/SherClockHolmes/webpush-go"
	"github.com/jmoiron/sqlx"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"xsuportal"
	"xsuportal/proto/resources"
)

const subject = "xsuportal@example.com"

func main() {
	contestantID := flag.String("c", "", "contestant")
	path := flag.String("i", xsuportal.WebpushVAPIDPrivateKeyPath, "file of the VAPID private key")
	flag.Parse()
	if *contestantID == "" {
		log.Fatal("name the contestant: -c ID")
	}
	key, err := xsuportal.ReadVAPIDKey(*path)
	if err != nil {
		log.Fatalf("reading the VAPID key: %v", err)
	}
	db, err := xsuportal.GetDB()
	if err != nil {
		log.Fatalf("connecting to the database: %v", err)
	}
	defer db.Close()

	var subscriptions []xsuportal.PushSubscription
	if err := db.Select(&subscriptions, "SELECT * FROM `push_subscriptions` WHERE `contestant_id` = ?", *contestantID); err != nil {
		log.Fatalf("reading the subscriptions: %v", err)
	}
	if len(subscriptions) == 0 {
		log.Fatalf("%s has no subscription", *contestantID)
	}

	notification, err := insertNotification(db, &resources.Notification{
		Content: &resources.Notification_ContentTest{
			ContentTest: &resources.Notification_TestMessage{Something: rand.Int64N(10000)},
		},
	}, *contestantID)
	if err != nil {
		log.Fatalf("storing the notification: %v", err)
	}
	for _, s := range subscriptions {
		if err := send(key, notification, &s); err != nil {
			log.Fatalf("sending to %s: %v", s.Endpoint, err)
		}
		log.Printf("sent to %s", s.Endpoint)
	}
}

// insertNotification stores a notification, and returns it with its identifier and time.
func insertNotification(db *sqlx.DB, n *resources.Notification, contestantID string) (*resources.Notification, error) {
	text, err := proto.Marshal(n)
	if err != nil {
		return nil, err
	}
	result, err := db.Exec("INSERT INTO `notifications` (`contestant_id`, `encoded_message`, `read`, `created_at`, `updated_at`)"+
		" VALUES (?, ?, FALSE, NOW(6), NOW(6))", contestantID, base64.StdEncoding.EncodeToString(text))
	if err != nil {
		return nil, err
	}
	id, err := result.LastInsertId()
	if err != nil {
		return nil, err
	}
	var stored xsuportal.Notification
	if err := db.Get(&stored, "SELECT * FROM `notifications` WHERE `id` = ?", id); err != nil {
		return nil, err
	}
	n.Id = stored.ID
	n.CreatedAt = timestamppb.New(stored.CreatedAt)
	return n, nil
}

// send sends a notification to one browser. The text of the message is the notification as
// protobuf in base64.
func send(key *xsuportal.VAPIDKey, n *resources.Notification, s *xsuportal.PushSubscription) error {
	b, err := proto.Marshal(n)
	if err != nil {
		return err
	}
	message := []byte(base64.StdEncoding.EncodeToString(b))
	response, err := webpush.SendNotification(message, &webpush.Subscription{
		Endpoint: s.Endpoint,
		Keys:     webpush.Keys{Auth: s.Auth, P256dh: s.P256DH},
	}, &webpush.Options{
		Subscriber:      subject,
		VAPIDPublicKey:  key.PublicKey,
		VAPIDPrivateKey: key.PrivateKey,
		TTL:             60,
	})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != 201 {
		log.Printf("the push service answered %s", response.Status)
	}
	return nil
}
