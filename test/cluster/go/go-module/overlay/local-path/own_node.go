package provisioner

import (
	"os"
	"path/filepath"
)

// ownNode is the node whose folder of volumes is mounted into the provisioner; empty where none is.
var ownNode = os.Getenv("NODE_NAME")

// onOwnNode creates or deletes a volume's folder of the provisioner's own node, for which no helper pod is needed: that
// pod takes seconds to start, and the provisioner asks for its end once a second. Reports whether the node is the own one.
func onOwnNode(action ActionType, o volumeOptions) (bool, error) {
	if ownNode == "" || o.Node != ownNode {
		return false, nil
	}
	path := filepath.Clean(o.Path)
	if action == ActionTypeDelete {
		return true, os.RemoveAll(path)
	}
	if err := os.MkdirAll(path, 0o777); err != nil {
		return true, err
	}
	// The process' umask does not limit the mode, as it does not in the helper pod's script.
	return true, os.Chmod(path, 0o777)
}
