package flow

// An Ender is a flow that knows that it has ended before it is used again.
type Ender interface {
	Ended() error
}

// Ended is why nothing more will come of a flow: it was cancelled, or could not be written.
// Whoever goes on for long without a call of the flow asks for it now and then.
func Ended(f Flow) error {
	if e, ok := f.(Ender); ok {
		return e.Ended()
	}
	return nil
}
