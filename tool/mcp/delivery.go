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

	mu    sync.Mutex
	notes notes
}

// notes are what is known of a delivery.
type notes struct {
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

// note changes what is known.
func (d *delivery) note(f func(*notes)) {
	if d != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		f(&d.notes)
	}
}

func (d *delivery) markSent() { d.note(func(n *notes) { n.sent = true }) }

// known returns what is known by now.
func (d *delivery) known() (now notes) {
	d.note(func(n *notes) { now = *n })
	return now
}
