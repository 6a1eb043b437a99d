/** With which a container ends that had to wait for a clone and got none; buildctl itself has no such code. */
export const NOT_CLONED = 75;

/**
 * A shell's script for a container beside the clone: runs its arguments once clone.sh has ended well, and ends with
 * NOT_CLONED once it has ended otherwise, be it killed. It has the workspace in WORKSPACE, which it need not write to. As an
 * init container the clone would cost every build the time until the kubelet looks at the pod again, a second.
 */
export const AFTER_CLONE = `
until [ -e "$WORKSPACE.cloning" ]; do sleep 0.05; done
exec 9<"$WORKSPACE.cloning"
flock -s 9 || exit 1
exec 9<&-
[ -e "$WORKSPACE.cloned" ] || exit ${NOT_CLONED}
exec "$@"
`;
