package sandbox

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The isolation layers of a worker, from the outermost to the innermost.
const (
	LayerProcess     = "process"      // the guest runs in its own process, which can be killed
	LayerParentDeath = "parent_death" // the worker dies with its parent
	LayerNamespaces  = "namespaces"   // no network and no privileges: user, network, ipc and uts namespaces
	LayerPrivileges  = "no_new_privs" // executing a program does not grant privileges
	LayerLimits      = "limits"       // few threads and descriptors, no large files, no core dumps
	LayerMemory      = "memory"       // the kernel denies memory beyond the run's limit
	LayerCPU         = "cpu_time"     // the parent measures and limits the processor time
	LayerLandlock    = "landlock"     // no access to files outside the worker's own folder, no TCP
	LayerChroot      = "chroot"       // no names, sizes or times of files outside the worker's own folder
	LayerCgroup      = "cgroup"       // the kernel counts all memory and all threads of the worker
	LayerSeccomp     = "seccomp"      // only the system calls that running a guest requires
)

// layers contains the names of all layers in the order of a Report.
var layers = []string{
	LayerProcess, LayerParentDeath, LayerNamespaces, LayerPrivileges, LayerLimits, LayerMemory, LayerCPU, LayerCgroup, LayerLandlock, LayerChroot, LayerSeccomp,
}

// Layers returns the names of all layers, in the order of a Report.
func Layers() []string { return slices.Clone(layers) }

// Baseline returns the layers that need only kernel support, in the order of a Report. The result
// is all layers except LayerCgroup, for which an administrator must delegate a control group.
func Baseline() []string {
	return slices.DeleteFunc(Layers(), func(name string) bool { return name == LayerCgroup })
}

// Layer is the state of one isolation layer.
type Layer struct {
	Name string `json:"name"`
	On   bool   `json:"on"`
	// Detail describes what the layer protects. If the layer is off, Detail is the reason why the
	// layer is off.
	Detail string `json:"detail"`
}

// Report contains the isolation layers of a pool's workers on this machine.
type Report struct {
	Layers []Layer `json:"layers"`
}

// errDisabled is the reason why a layer in Options.Without is off.
var errDisabled = errors.New("disabled by option")

// newLayer returns a layer that is on if err is nil. If err is not nil, the layer is off, and its
// Detail is err.
func newLayer(name string, err error, detail string) Layer {
	if err != nil {
		return Layer{Name: name, Detail: err.Error()}
	}
	return Layer{Name: name, On: true, Detail: detail}
}

// On reports whether a layer is on.
func (r Report) On(name string) bool {
	return slices.ContainsFunc(r.Layers, func(l Layer) bool { return l.Name == name && l.On })
}

// MissingError reports that some layers in Options.Require are not available on this machine.
type MissingError struct {
	// Layers contains the missing layers with the reasons. Layers has at least one element.
	Layers []Layer
}

// Error returns the names of the layers and the reasons.
func (e *MissingError) Error() string {
	var texts []string
	for _, l := range e.Layers {
		texts = append(texts, fmt.Sprintf("%s (%s)", l.Name, l.Detail))
	}
	return "this machine lacks required isolation layers: " + strings.Join(texts, "; ")
}

// The method "missing" returns a *MissingError if a required layer is off.
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

// The method "sort" sorts the layers in the order of a Report.
func (r *Report) sort() {
	slices.SortFunc(r.Layers, func(a, b Layer) int {
		return slices.Index(layers, a.Name) - slices.Index(layers, b.Name)
	})
}
