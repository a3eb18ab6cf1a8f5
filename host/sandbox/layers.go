package sandbox

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// These constants are the isolation layers of a worker. The outermost layer is the first, and the
// innermost layer is the last.
const (
	LayerProcess     = "process"      // each guest runs in a separate process that can be killed
	LayerParentDeath = "parent_death" // if the parent dies, the worker dies too
	LayerNamespaces  = "namespaces"   // user, network, ipc and uts namespaces
	LayerPrivileges  = "no_new_privs" // the execution of a program does not grant privileges
	LayerLimits      = "limits"       // few threads and descriptors, no large files, no core dumps
	LayerMemory      = "memory"       // the kernel denies memory beyond the memory limit of the run
	LayerCPU         = "cpu_time"     // the parent measures and limits the processor time
	LayerLandlock    = "landlock"     // no TCP, and no files outside of the worker's folder
	LayerChroot      = "chroot"       // hides the metadata of files outside of the worker's folder
	LayerCgroup      = "cgroup"       // the kernel counts the memory and the threads of the worker
	LayerSeccomp     = "seccomp"      // only system calls that are necessary to run a guest
)

// The variable layers contains the names of all layers in the order of a Report.
var layers = []string{
	LayerProcess, LayerParentDeath, LayerNamespaces, LayerPrivileges, LayerLimits, LayerMemory, LayerCPU, LayerCgroup, LayerLandlock, LayerChroot, LayerSeccomp,
}

// Layers returns the names of all layers in the order of a Report.
func Layers() []string { return slices.Clone(layers) }

// Baseline returns the layers that need only kernel support, in the order of a Report. The result
// contains all layers except LayerCgroup. LayerCgroup also needs a control group that an
// administrator must delegate.
func Baseline() []string {
	return slices.DeleteFunc(Layers(), func(name string) bool { return name == LayerCgroup })
}

// Layer is the state of one isolation layer.
type Layer struct {
	Name string `json:"name"`
	On   bool   `json:"on"`
	// Detail describes what the layer protects, if the layer is on. If the layer is off, Detail
	// contains the reason.
	Detail string `json:"detail"`
}

// A Report contains the isolation layers that the workers of a pool have on this machine.
type Report struct {
	Layers []Layer `json:"layers"`
}

// errDisabled is the reason why a layer in Options.Without is off.
var errDisabled = errors.New("disabled by option")

// newLayer returns the state of a layer. If err is nil, the layer is on. If err is not nil, the
// layer is off, and Detail contains the text of err.
func newLayer(name string, err error, detail string) Layer {
	if err != nil {
		return Layer{Name: name, Detail: err.Error()}
	}
	return Layer{Name: name, On: true, Detail: detail}
}

// On reports whether the layer with the given name is on.
func (r Report) On(name string) bool {
	return slices.ContainsFunc(r.Layers, func(l Layer) bool { return l.Name == name && l.On })
}

// MissingError reports that this machine lacks some layers in Options.Require.
type MissingError struct {
	// Layers contains the missing layers. The Detail of each layer is the reason. Layers has at
	// least one element.
	Layers []Layer
}

// Error returns the names of the missing layers and the reasons.
func (e *MissingError) Error() string {
	var texts []string
	for _, l := range e.Layers {
		texts = append(texts, fmt.Sprintf("%s (%s)", l.Name, l.Detail))
	}
	return "this machine lacks required isolation layers: " + strings.Join(texts, "; ")
}

// missing returns a *MissingError if a required layer is off.
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

// sort sorts the layers in the order of a Report.
func (r *Report) sort() {
	slices.SortFunc(r.Layers, func(a, b Layer) int {
		return slices.Index(layers, a.Name) - slices.Index(layers, b.Name)
	})
}
