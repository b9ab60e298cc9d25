package mcp

import (
	"context"
	"sync"
)

// A delivery is what became of one call on its way to the server. It travels in
// the call's context, because the SDK is between those who make the call and
// those who send it. A nil delivery notes nothing.
type delivery struct {
	over <-chan struct{} // closed when the call has ended

	mu     sync.Mutex
	sent   bool   // the server may have seen it
	status int    // of HTTP
	detail string // what else is known
}

type deliveryKey struct{}

// withDelivery returns a context for one call.
func withDelivery(ctx context.Context) (context.Context, *delivery) {
	d := &delivery{over: ctx.Done()}
	return context.WithValue(ctx, deliveryKey{}, d), d
}

// deliveryOf returns the delivery of the call that ctx belongs to. What the SDK
// sends after a call has ended, to cancel it, is not the call.
func deliveryOf(ctx context.Context) *delivery {
	d, _ := ctx.Value(deliveryKey{}).(*delivery)
	if d == nil {
		return nil
	}
	select {
	case <-d.over:
		return nil
	default:
		return d
	}
}

func (d *delivery) update(f func(*delivery)) {
	if d != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		f(d)
	}
}

func (d *delivery) markSent()        { d.update(func(d *delivery) { d.sent = true }) }
func (d *delivery) markUnsent()      { d.update(func(d *delivery) { d.sent = false }) }
func (d *delivery) note(text string) { d.update(func(d *delivery) { d.detail = text }) }

func (d *delivery) markStatus(status int, detail string) {
	d.update(func(d *delivery) { d.status, d.detail = status, detail })
}

func (d *delivery) wasSent() (sent bool) {
	d.update(func(d *delivery) { sent = d.sent })
	return sent
}

func (d *delivery) httpStatus() (status int) {
	d.update(func(d *delivery) { status = d.status })
	return status
}

func (d *delivery) details() (detail string) {
	d.update(func(d *delivery) { detail = d.detail })
	return detail
}
