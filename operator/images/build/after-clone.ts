/** Exit code of a build container whose clone failed; buildctl itself never uses it. */
export const NOT_CLONED = 75;

/**
 * Shell script of a container that waits for the clone: runs its arguments once clone.sh has succeeded, and exits with
 * NOT_CLONED if the clone failed or was killed. WORKSPACE names the workspace; it needs no write access. As an init
 * container the clone would delay every build by the second until the kubelet checks the pod again.
 */
export const AFTER_CLONE = `
until [ -e "$WORKSPACE.cloning" ]; do sleep 0.05; done
exec 9<"$WORKSPACE.cloning"
flock -s 9 || exit 1
exec 9<&-
[ -e "$WORKSPACE.cloned" ] || exit ${NOT_CLONED}
exec "$@"
`;
