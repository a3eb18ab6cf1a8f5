package sandbox

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The layers of a worker's wall, from the outside in.
const (
	LayerProcess     = "process"      // a guest runs in a process of its own, which can be killed
	LayerParentDeath = "parent_death" // the worker ends with the process that started it, however that ends
	LayerNamespaces  = "namespaces"   // no network and no privileges: user, network, ipc and uts namespaces
	LayerPrivileges  = "no_new_privs" // no program that is executed gives privileges
	LayerLimits      = "limits"       // few threads and descriptors, no large files, no core dumps
	LayerMemory      = "memory"       // the kernel refuses memory beyond the run's
	LayerCPU         = "cpu_time"     // the parent reads and bounds the processor time
	LayerLandlock    = "landlock"     // no files but those that the worker is to read, no TCP
	LayerChroot      = "chroot"       // no names, sizes or times of files outside of one folder
	LayerCgroup      = "cgroup"       // the kernel counts all memory and all threads of a worker
	LayerSeccomp     = "seccomp"      // no system calls but those that running a guest takes
)

// layers are all of them, in the order of a Report.
var layers = []string{
	LayerProcess, LayerParentDeath, LayerNamespaces, LayerPrivileges, LayerLimits, LayerMemory, LayerCPU, LayerCgroup, LayerLandlock, LayerChroot, LayerSeccomp,
}

// Layers returns the names of all layers, in the order of a Report.
func Layers() []string { return slices.Clone(layers) }

// Baseline returns the layers that every process can have where the kernel knows them: all but LayerCgroup, for which an
// administrator hands over a control group. They are in the order of a Report.
func Baseline() []string {
	return slices.DeleteFunc(Layers(), func(name string) bool { return name == LayerCgroup })
}

// Layer says of one layer of a worker's wall whether it stands.
type Layer struct {
	Name string `json:"name"`
	On   bool   `json:"on"`
	// Detail says what the layer holds back where it is on, and why it is off where it is not.
	Detail string `json:"detail"`
}

// Report says which layers the wall of a pool's workers has on this machine.
type Report struct {
	Layers []Layer `json:"layers"`
}

// errLeftOut is why a layer is off that Options.Without names.
var errDisabled = errors.New("left out as asked")

// newLayer is a layer that is on, with what it does, unless there was an error.
func newLayer(name string, err error, detail string) Layer {
	if err != nil {
		return Layer{Name: name, Detail: err.Error()}
	}
	return Layer{Name: name, On: true, Detail: detail}
}

// On reports whether a layer stands.
func (r Report) On(name string) bool {
	return slices.ContainsFunc(r.Layers, func(l Layer) bool { return l.Name == name && l.On })
}

// MissingError says that a machine does not have layers that Options.Require names.
type MissingError struct {
	// Layers are those that are missing, each with the reason. There is at least one.
	Layers []Layer
}

// Error names the layers and the reasons.
func (e *MissingError) Error() string {
	var texts []string
	for _, l := range e.Layers {
		texts = append(texts, fmt.Sprintf("%s (%s)", l.Name, l.Detail))
	}
	return "this machine does not give the isolation that is required: " + strings.Join(texts, "; ")
}

// missing reports the layers that are required and do not stand, as a *MissingError.
func (r Report) missing(required []string) error {
	var missing []Layer
	for _, l := range r.Layers {
		if !l.On && slices.Contains(required, l.Name) {
			missing = append(missing, l)
		}
	}
	if missing == nil {
		return nil
	}
	return &MissingError{missing}
}

// sort brings the layers into their order.
func (r *Report) sort() {
	slices.SortFunc(r.Layers, func(a, b Layer) int {
		return slices.Index(layers, a.Name) - slices.Index(layers, b.Name)
	})
}
