package notify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	netmail "net/mail"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"

	"github.com/wneessen/go-mail"
)

// A Mail is a server that takes mail.
type Mail struct {
	Host     string
	Port     int
	User     string
	Password string
	From     string // address
	// Plain sends without TLS: a server of this machine alone.
	Plain bool
}

// ReadMail reads an address such as smtp://USER@HOST:587?from=portal@example.com. The connection
// has TLS, unless the host is this machine.
func ReadMail(address, password string) (*Mail, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "smtp" || u.Hostname() == "" {
		return nil, errors.New("want smtp://USER@HOST:PORT?from=ADDRESS")
	}
	from, err := netmail.ParseAddress(u.Query().Get("from"))
	if err != nil {
		return nil, errors.New("the address of the mail server has no valid from=ADDRESS")
	}
	m := &Mail{Host: u.Hostname(), Port: 587, User: u.User.Username(), Password: password, From: from.Address}
	if p := u.Port(); p != "" {
		if m.Port, err = strconv.Atoi(p); err != nil {
			return nil, fmt.Errorf("the port of the mail server: %w", err)
		}
	}
	ip := net.ParseIP(m.Host)
	m.Plain = m.Host == "localhost" || ip != nil && ip.IsLoopback()
	if m.Plain && m.User != "" {
		return nil, errors.New("a password is not sent without TLS")
	}
	return m, nil
}

// message makes a mail. All texts are from outside: headings are one line, addresses are parsed.
func (m *Mail) message(to, id, subject, text string) (*mail.Msg, error) {
	out := mail.NewMsg(mail.WithCharset(mail.CharsetUTF8), mail.WithEncoding(mail.EncodingQP))
	if err := out.From(m.From); err != nil {
		return nil, fmt.Errorf("the sender's address: %w", err)
	}
	address, err := netmail.ParseAddress(to)
	if err != nil || strings.ContainsAny(address.Address, "\r\n") {
		return nil, &deadError{why: "the mail address is not valid"}
	}
	if err := out.To(address.Address); err != nil {
		return nil, &deadError{why: "the mail address is not valid"}
	}
	out.Subject(line(subject, 150))
	sum := sha256.Sum256([]byte(id + "\x00" + address.Address))
	_, domain, _ := strings.Cut(m.From, "@")
	out.SetMessageIDWithValue(hex.EncodeToString(sum[:16]) + "@" + domain)
	out.SetDate()
	out.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no automatic answer
	out.SetBodyString(mail.TypeTextPlain, text)
	return out, nil
}

// deliver gives a mail to the server.
func (m *Mail) deliver(ctx context.Context, msg *mail.Msg) error {
	options := []mail.Option{mail.WithPort(m.Port), mail.WithTimeout(tryTime), mail.WithTLSPolicy(mail.TLSMandatory)}
	if m.Plain {
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	}
	if m.User != "" {
		options = append(options, mail.WithSMTPAuth(mail.SMTPAuthPlain), mail.WithUsername(m.User), mail.WithPassword(m.Password))
	}
	c, err := mail.NewClient(m.Host, options...)
	if err != nil {
		return fmt.Errorf("the mail server: %w", err)
	}
	if err := c.DialAndSendWithContext(ctx, msg); err != nil {
		var answer *textproto.Error
		var send *mail.SendError
		switch {
		case errors.As(err, &answer) && answer.Code >= 500, errors.As(err, &send) && !send.IsTemp() && send.ErrorCode() >= 500:
			return &deadError{why: "the mail server refuses: " + line(err.Error(), 200)}
		}
		return fmt.Errorf("the mail server: %w", err)
	}
	return nil
}

// mail sends a delivery as mail.
func (s *Service) mail(ctx context.Context, d due) error {
	if s.o.Mail == nil {
		return &deadError{why: "this portal sends no mail"}
	}
	text := d.notice.Text + "\n\n" + d.notice.URL + "\n"
	msg, err := s.o.Mail.message(d.to.address, d.message, d.notice.Title, text)
	if err != nil {
		return err
	}
	return s.o.Mail.deliver(ctx, msg)
}
