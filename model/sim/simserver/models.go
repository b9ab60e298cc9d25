package simserver

import (
	"errors"
	"strings"
	"sync"

	"github.com/maker-mdap/maker/model/sim"
)

// maxModels bounds how many differently set models are kept. One that is
// dropped and comes back starts counting samples anew.
const maxModels = 64

// models finds models by name, making those that a request describes.
type models struct {
	standard *sim.Model

	mu    sync.Mutex
	named map[string]*sim.Model
	order []string // of arrival, oldest first
}

func (m *models) get(name string) (*sim.Model, error) {
	if !strings.HasPrefix(name, "sim/") {
		return m.standard, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if found, ok := m.named[name]; ok {
		return found, nil
	}
	s, err := sim.Parse(name)
	if err != nil {
		return nil, err
	}
	if s == m.standard.Settings() {
		return m.standard, nil
	}
	if s.Script != m.standard.Settings().Script && s.Script != "" {
		return nil, errors.New("the script of a served model is set when the server starts; a request cannot name a file")
	}
	made, err := sim.New(s)
	if err != nil {
		return nil, err
	}
	if len(m.order) == maxModels {
		delete(m.named, m.order[0])
		m.order = append(m.order[:0], m.order[1:]...)
	}
	if m.named == nil {
		m.named = map[string]*sim.Model{}
	}
	m.named[name] = made
	m.order = append(m.order, name)
	return made, nil
}
